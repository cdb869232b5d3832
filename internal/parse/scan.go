package parse

import (
	"bytes"
	"regexp"
)

// mayHaveDirectives reports whether a comment of the file could be a directive or a near miss of one. It looks at bytes
// only, so that a package without any is never parsed; what it lets through is for [annotations.Parse] to judge.
func mayHaveDirectives(src []byte) bool {
	for {
		i := bytes.IndexByte(src, '/')
		if i < 0 || i+1 >= len(src) {
			return false
		}
		src = src[i+1:]
		switch src[0] {
		case '/':
			if mayBeDirective(src[1:]) {
				return true
			}
		case '*':
			comment, _, _ := bytes.Cut(src[1:], []byte("*/"))
			for line := range bytes.Lines(comment) {
				if mayBeDirective(line) {
					return true
				}
			}
		}
	}
}

// mayBeDirective judges the start of a comment's line: the word ratelimit in any spelling, alone or with an attribute
// joined to it, another word that could be a misspelling of it, with a colon and an attribute, or an annotation with arguments.
func mayBeDirective(text []byte) bool {
	const shortest, longest = 5, 24 // of a misspelled tool name
	start := 0
	for start < len(text) && (bytes.IndexByte([]byte(" \t\r\v\f*/@+#"), text[start]) >= 0 || text[start] >= 0x80) {
		start++
	}
	if bytes.HasPrefix(text[start:], []byte("go:")) {
		start += len("go:")
	}
	if spacedWord.Match(text[start:]) {
		return true
	}
	end := start
	for end < len(text) && end-start <= longest && isWordByte(text[end]) {
		end++
	}
	if end-start < shortest {
		return false
	}
	word := text[start:end]
	if isRatelimit(word) || isRatelimit(word[:max(0, bytes.LastIndexAny(word, "-_"))]) {
		return true
	}
	if end-start > longest {
		return false
	}
	line, _, _ := bytes.Cut(text[end:], []byte("\n"))
	if bytes.IndexByte(text[:start], '@') >= 0 && bytes.IndexByte(line, '(') >= 0 {
		return true // an annotation of another language, whose names are many
	}
	rest := bytes.TrimLeft(text[end:min(end+8, len(text))], " \t")
	if len(rest) == 0 || rest[0] != ':' {
		return false
	}
	return bytes.IndexByte(line, '=') >= 0
}

var spacedWord = regexp.MustCompile(`^(?i:rate[ \t]limit)`)

func isRatelimit(word []byte) bool {
	plain := bytes.ToLower(word)
	plain = bytes.ReplaceAll(bytes.ReplaceAll(plain, []byte("-"), nil), []byte("_"), nil)
	return string(plain) == "ratelimit"
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '-'
}
