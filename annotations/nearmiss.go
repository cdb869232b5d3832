package annotations

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ratelimitgen/ratelimitgen/internal/spelling"
)

// tool is the namespace of the directive, as spelling.Plain has it.
const tool = "ratelimit"

// foreign are the annotations of other languages for what the directive does, as spelling.Plain has them.
var foreign = []string{tool, "ratelimits", "ratelimiter", "ratelimiters", "accesslimit", "requestlimit", "limit"}

var (
	// lookalike is a line of a comment in six parts: what opens it, the mark of an annotation in another language, its
	// first word, a colon or what was taken for one, a gap, and the rest. A third slash is a typo; what has two slashes
	// twice is a directive that somebody has commented out.
	lookalike = regexp.MustCompile(`^((?://|/\*)?/?[\s\p{Z}\p{Cf}*]*)(go:|[@+#]?)((?i:rate[ \t]limit)|[A-Za-z_-]{5,24})[\s\p{Z}\p{Cf}]*([^\sA-Za-z0-9_-]?)([\s\p{Z}\p{Cf}]*)(.*)$`)

	// firstAttribute is the start of a list of attributes, as opposed to prose.
	firstAttribute = regexp.MustCompile(`^(?:limit\s+)?(?:ip\s+)?([A-Za-z][A-Za-z0-9_-]*)\s*=(?:[^=]|$)`)

	// tightAttribute is one as directives have it. Blanks around = are how code is written.
	tightAttribute = regexp.MustCompile(`^(?:limit\s+)?(?:ip\s+)?[A-Za-z][A-Za-z0-9_-]*=[^=\s]`)

	// foreignArguments is how the arguments of an annotation in another language begin that are no attributes: with those of
	// several in one, with a value alone, or on the next line.
	foreignArguments = regexp.MustCompile(`^(?:(?:value\s*=\s*)?[{"]|\)?$)`)

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
			mistake.editBlock(comment)
			return mistake
		}
		offset += len(line)
	}
	return nil
}

// nearMissLine reports a near miss in one line, which starts at offset.
func nearMissLine(line string, offset int) *Error {
	parts := lookalike.FindStringSubmatch(line)
	if parts == nil {
		return nil
	}
	open, mark, word, colon, gap, attrs := parts[1], parts[2], parts[3], parts[4], parts[5], parts[6]
	if name, ok := joinedAttribute(word); ok && colon == "=" {
		word, colon, attrs = word[:len(word)-len(name)], "-", name+colon+gap+attrs
		gap = ""
	}
	if !isMeant(open, mark, word, colon, gap, attrs) {
		return nil
	}
	first := firstWord.FindString(attrs)
	seen := strings.TrimLeft(line[:len(line)-len(attrs)+len(first)], blanks)
	rest := attrs[len(first):]
	hint := nearestVerb(first)
	if strings.HasPrefix(strings.TrimLeft(rest, blanks), "=") {
		hint = nearestAttribute(first)
	}
	if hint != "" {
		first = hint
	}
	return &Error{
		Offset:  offset,
		Message: fmt.Sprintf("%+q is not read as a directive: want %q", seen, prefix+first),
		Edit:    editLine(line, offset, colon, first+rest),
	}
}

// joinedAttribute returns the attribute behind a word of ours that it is joined to, as count in ratelimit-count.
func joinedAttribute(word string) (name string, ok bool) {
	i := strings.LastIndexAny(word, "-_") + 1
	return word[i:], spelling.Plain(word[:i]) == tool && lookup(word[i:]) != nil
}

// isMeant reports whether the parts of a lookalike are a directive to a human reader. In doubt they are, once the word is
// ours and nothing but the blanks, the case or the slashes are wrong.
func isMeant(open, mark, word, colon, gap, attrs string) bool {
	name := ""
	if m := firstAttribute.FindStringSubmatch(attrs); m != nil {
		name = m[1]
	}
	isAttribute := name != "" && nearestAttribute(name) != ""
	isTight := tightAttribute.MatchString(attrs)
	switch plain := spelling.Plain(word); {
	case mark == "@" && colon == "(" && slices.Contains(foreign, plain):
		return isAttribute || plain != "limit" && foreignArguments.MatchString(attrs)
	case strings.HasPrefix(attrs, "="), strings.HasSuffix(attrs, ",") && !isTight:
		return false // code that is commented out: a definition, or a field of a literal
	case strings.ContainsAny(word, blanks):
		return open == "//" && colon == ":" && isAttribute && isTight
	case plain != tool: // a typo, or ratelimiter, or ratelimitgen
		return colon == ":" && gap == "" && isAttribute && (strings.HasPrefix(plain, tool) || spelling.Distance(plain, tool) <= 2)
	case open+mark+word+colon == prefix:
		return true
	case attrs == "skip":
		return true
	case colon == "=": // a value without its attribute, as opposed to code that is commented out
		return open+mark+word == "//"+tool && gap == ""
	case attrs == "":
		return colon == ":" && open == "//" || colon == "" && (mark != "" || open+word == "//"+tool)
	case colon != ":":
		return isAttribute && (mark == "@" || gap == "" && isTight)
	default:
		return gap == "" || name != ""
	}
}
