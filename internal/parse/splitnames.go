package parse

import (
	"bytes"
	"go/token"
)

// names returns what a declaration declares, and of a group perhaps more, and the name of the type that a method belongs to.
// It reports whether it knows.
func (s span) names(src []byte) (names []string, receiver string, ok bool) {
	at := skipBlank(src, s.start+len(s.tok.String()))
	if at >= s.end {
		return nil, "", false
	}
	isMethod := s.tok == token.FUNC && src[at] == '('
	switch {
	case isMethod:
		end := skipGroup(src, at)
		receiver = receiverIn(src[at:end])
		at = skipBlank(src, end)
	case src[at] == '(':
		return groupNames(src[at+1 : s.end]), "", true
	}
	names, _ = identsAt(nil, src, at)
	return names, receiver, len(names) > 0 && isMethod == (receiver != "")
}

// receiverIn returns the name of the type in a receiver such as (t *T[K]), "" if that is not easily seen.
func receiverIn(receiver []byte) string {
	if bytes.IndexByte(receiver, '/') >= 0 { // a comment
		return ""
	}
	receiver, _, _ = bytes.Cut(receiver, []byte("["))
	return lastIdent(bytes.TrimRight(receiver, ") \t\r\n,"))
}

// lastIdent returns the identifier or keyword that a source ends with, "" if it ends with none.
func lastIdent(src []byte) string {
	start := len(src)
	for start > 0 && isIdentByte(src[start-1]) {
		start--
	}
	return string(src[start:])
}

// groupNames returns the names at the start of the lines of a group, whatever they are. The group is without its first
// parenthesis.
func groupNames(group []byte) []string {
	var names []string
	for at := skipBlank(group, 0); at < len(group) && group[at] != ')'; at = skipBlank(group, at) {
		names, at = identsAt(names, group, at)
		at = skipLine(group, at)
	}
	return names
}

// skipLine returns where the next line starts, or what a semicolon separates, that is in no parentheses.
func skipLine(src []byte, at int) int {
	for at < len(src) {
		switch src[at] {
		case '\n', ';':
			return at + 1
		case '(', '[', '{':
			at = skipGroup(src, at)
		case ')':
			return at
		default:
			at = skipToken(src, at)
		}
	}
	return at
}

// skipGroup returns the end of what starts with a parenthesis, a bracket or a brace.
func skipGroup(src []byte, at int) int {
	depth := 0
	for at < len(src) {
		switch src[at] {
		case '(', '[', '{':
			depth++
			at++
		case ')', ']', '}':
			at++
			if depth--; depth == 0 {
				return at
			}
		case '\n', ';':
			at++
		default:
			at = skipToken(src, at)
		}
	}
	return at
}

// identsAt adds a list of identifiers that may start at a place to names, and returns its end.
func identsAt(names []string, src []byte, at int) ([]string, int) {
	for at < len(src) && isIdentByte(src[at]) {
		start := at
		for at < len(src) && isIdentByte(src[at]) {
			at++
		}
		names = append(names, string(src[start:at]))
		if next := skipBlank(src, at); next < len(src) && src[next] == ',' {
			at = skipBlank(src, next+1)
		}
	}
	return names, at
}
