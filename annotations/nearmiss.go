package annotations

import (
	"fmt"
	"regexp"
	"strings"
)

// tool is the namespace of the directive, as plainWord has it.
const tool = "ratelimit"

var (
	// lookalike is a line of a comment in five parts: what opens it, its first word, a colon, a gap, and the rest. A
	// third slash is a typo; what has two slashes twice is a directive that somebody has commented out.
	lookalike = regexp.MustCompile(`^((?://|/\*)?/?[\s\p{Z}*]*)([A-Za-z_-]{5,18})[ \t]*(:?)([ \t]*)(.*)$`)

	// firstAttribute is the start of a list of attributes, as opposed to prose.
	firstAttribute = regexp.MustCompile(`^(?:limit\s+)?(?:ip\s+)?([A-Za-z][A-Za-z0-9_-]*)\s*=(?:[^=]|$)`)

	firstWord = regexp.MustCompile(`^[A-Za-z0-9_-]*`)
)

// nearMiss reports a comment that was meant as a directive of ours though Go does not read it as one. Prose and code must
// pass: "// ratelimit: see the README" and "// RateLimit: cfg.Limit," are none of our business.
func nearMiss(comment string) *Error {
	if strings.HasPrefix(comment, "//") {
		return nearMissLine(comment, 0)
	}
	if !strings.HasPrefix(comment, "/*") {
		return nil
	}
	offset := 0
	for line := range strings.Lines(strings.TrimSuffix(comment, "*/")) {
		commentedOut := strings.HasPrefix(line, "//")
		if mistake := nearMissLine(strings.TrimRight(line, " \t\r\n"), offset); mistake != nil && !commentedOut {
			return mistake
		}
		offset += len(line)
	}
	return nil
}

// nearMissLine reports a near miss in one line, which starts at offset.
func nearMissLine(line string, offset int) *Error {
	parts := lookalike.FindStringSubmatch(line)
	if parts == nil || !isMeant(parts[1], parts[2], parts[3], parts[4], parts[5]) {
		return nil
	}
	attrs := parts[5]
	first := firstWord.FindString(attrs)
	seen := strings.TrimLeft(line[:len(line)-len(attrs)+len(first)], blanks)
	hint := nearestVerb(first)
	if strings.HasPrefix(strings.TrimLeft(attrs[len(first):], blanks), "=") {
		hint = nearestAttribute(first)
	}
	if hint != "" {
		first = hint
	}
	return &Error{Offset: offset, Message: fmt.Sprintf("%q is not read as a directive: want %q", seen, prefix+first)}
}

// isMeant reports whether the parts of a lookalike are a directive to a human reader. In doubt they are, once the word is
// ours and nothing but the blanks, the case or the slashes are wrong.
func isMeant(open, word, colon, gap, attrs string) bool {
	name := ""
	if m := firstAttribute.FindStringSubmatch(attrs); m != nil {
		name = m[1]
	}
	isAttribute := name != "" && nearestAttribute(name) != ""
	switch plain := plainWord(word); {
	case plain != tool: // a typo, or ratelimiter, or ratelimitgen
		return colon != "" && gap == "" && isAttribute && (strings.HasPrefix(plain, tool) || distance(plain, tool) <= 2)
	case open+word+colon == prefix:
		return true
	case attrs == "skip":
		return true
	case colon == "":
		return isAttribute
	case attrs == "":
		return open == "//"
	default:
		return gap == "" || name != ""
	}
}
