package parse

import (
	"bytes"
	"go/token"
	"slices"
)

// span is where a declaration stands in a file, found without parsing it.
type span struct {
	tok        token.Token // its keyword
	start, end int
	body       int // where the body of a function starts; the end if it has none
}

// split returns the package clause, the imports and the declarations of a file, each of which starts a line: so they do
// where gofmt has been. It reports whether the file is so. One that does not parse may well be.
func split(src []byte) ([]span, bool) {
	var spans []span
	for at := skipBlank(src, len(src)-len(bytes.TrimPrefix(src, []byte("\ufeff")))); at < len(src); {
		tok := keywordAt(src, at)
		if tok == token.ILLEGAL || (tok == token.PACKAGE) != (len(spans) == 0) {
			return nil, false
		}
		s, next, ok := declarationAt(src, at, tok)
		if !ok {
			return nil, false
		}
		spans = append(spans, s)
		at = next
	}
	return spans, len(spans) > 0
}

// withoutBodies returns a source with blanks in place of what functions do, which takes most of the time it is to be parsed.
// The lines stay where they are, and so does all else. A file that cannot be divided stays as it is.
func withoutBodies(src []byte) []byte {
	spans, ok := split(src)
	if !ok {
		return src
	}
	blanked := slices.Clone(src)
	for _, s := range spans {
		if s.body == s.end {
			continue
		}
		for i := s.body + 1; i < s.end; i++ {
			if blanked[i] != '\n' {
				blanked[i] = ' '
			}
		}
		blanked[s.end-1] = '}'
	}
	return blanked
}

// declarationAt returns the declaration that starts with a keyword, and where the next one starts.
func declarationAt(src []byte, start int, tok token.Token) (s span, next int, ok bool) {
	s = span{tok: tok, start: start, body: -1}
	depth := 0        // of parentheses, brackets and braces
	var before []byte // the last words that are in none of these, without comments
	for at := start; at < len(src); {
		switch c := src[at]; c {
		case '\n':
			if depth > 0 {
				at++
				continue
			}
			next := skipBlank(src, at)
			if next == len(src) || keywordAt(src, next) != token.ILLEGAL {
				s.end = at
				return s.withBody(), next, true
			}
			if tok == token.PACKAGE || tok == token.IMPORT { // neither goes on
				return s, 0, false
			}
			at = next
		case ';':
			if depth == 0 { // another declaration may follow on the line
				return s, 0, false
			}
			at++
		case '{', '(', '[':
			if c == '{' && depth == 0 && tok == token.FUNC && s.body < 0 && !isTypeAfter(before) {
				s.body = at
			}
			before = nil
			depth++
			at++
		case '}', ')', ']':
			if depth--; depth < 0 {
				return s, 0, false
			}
			before = nil
			at++
		default:
			end := skipToken(src, at)
			if depth == 0 && !isComment(src, at) {
				if words := bytes.TrimSpace(src[at:end]); len(words) > 0 {
					before = words
				}
			}
			at = end
		}
	}
	s.end = len(src)
	return s.withBody(), len(src), depth == 0
}

func (s span) withBody() span {
	if s.body < 0 {
		s.body = s.end
	}
	return s
}

// isTypeAfter reports whether a brace after those words starts no body, but what a result type has.
func isTypeAfter(words []byte) bool {
	last := lastIdent(words)
	return last == "interface" || last == "struct"
}

func isComment(src []byte, at int) bool {
	return src[at] == '/' && at+1 < len(src) && (src[at+1] == '/' || src[at+1] == '*')
}

// keywordAt returns the keyword of a declaration or a package clause that stands at a place, or token.ILLEGAL.
func keywordAt(src []byte, at int) token.Token {
	for _, tok := range []token.Token{token.FUNC, token.TYPE, token.VAR, token.CONST, token.IMPORT, token.PACKAGE} {
		rest, ok := bytes.CutPrefix(src[at:], []byte(tok.String()))
		if ok && len(rest) > 0 && !isIdentByte(rest[0]) {
			return tok
		}
	}
	return token.ILLEGAL
}

func isIdentByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c >= 0x80
}

// skipBlank returns where blanks, lines and comments end.
func skipBlank(src []byte, at int) int {
	for at < len(src) {
		switch c := src[at]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			at++
		case isComment(src, at):
			at = skipToken(src, at)
		default:
			return at
		}
	}
	return at
}

// special has the bytes that mean something here.
var special = [256]bool{
	'"': true, '\'': true, '`': true, '/': true, '\n': true, ';': true,
	'{': true, '}': true, '(': true, ')': true, '[': true, ']': true,
}

// skipToken returns the end of the comment, string or rune that starts at, or else of the byte and those after it that are
// not special.
func skipToken(src []byte, at int) int {
	rest := src[at+1:]
	switch c := src[at]; {
	case c == '"' || c == '\'':
		return at + 1 + quotedEnd(rest, c)
	case c == '`':
		return after(src, at+1, "`")
	case c == '/' && bytes.HasPrefix(rest, []byte("/")):
		if i := bytes.IndexByte(rest, '\n'); i >= 0 { // the end of the line counts
			return at + 1 + i
		}
		return len(src)
	case c == '/' && bytes.HasPrefix(rest, []byte("*")):
		return after(src, at+2, "*/")
	}
	for at++; at < len(src) && !special[src[at]]; at++ {
	}
	return at
}

// quotedEnd returns the end of what ends with a quote, 0 if that is not on the line.
func quotedEnd(rest []byte, quote byte) int {
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '\n':
			return 0
		case '\\':
			i++
		case quote:
			return i + 1
		}
	}
	return 0
}

// after returns the end of the next occurrence of text, or of the source.
func after(src []byte, at int, text string) int {
	if i := bytes.Index(src[at:], []byte(text)); i >= 0 {
		return at + i + len(text)
	}
	return len(src)
}
