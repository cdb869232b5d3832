package parse

import (
	"bytes"
	"slices"
)

// withoutBodies returns a source with blanks in place of what functions do, which takes most of the time it is to be
// parsed. Every other byte stays where it is, and so do the lines. Of a file that is not as it expects, it leaves more.
func withoutBodies(src []byte) []byte {
	blanked := slices.Clone(src)
	for at := 0; at < len(src); {
		if bytes.HasPrefix(src[at:], []byte("func ")) {
			if start := bodyStart(src, at); start >= 0 {
				end := skipBlock(src, start)
				for i := start + 1; i < end-1; i++ {
					if blanked[i] != '\n' {
						blanked[i] = ' '
					}
				}
				at = end
			}
		}
		at = nextLine(src, at)
	}
	return blanked
}

// nextLine returns where the next line starts outside of comments and strings, that at is not in.
func nextLine(src []byte, at int) int {
	for at < len(src) {
		if src[at] == '\n' {
			return at + 1
		}
		at = skipToken(src, at)
	}
	return at
}

// bodyStart returns where the body of the function declared at starts, or -1 if there is none on the line on which the
// signature ends.
func bodyStart(src []byte, at int) int {
	depth := 0 // of parentheses and brackets
	for at < len(src) {
		switch src[at] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '\n':
			if depth == 0 {
				return -1
			}
		case '{':
			before := bytes.TrimRight(src[:at], " \t")
			if !bytes.HasSuffix(before, []byte("interface")) && !bytes.HasSuffix(before, []byte("struct")) {
				if depth == 0 {
					return at
				}
				return -1
			}
			at = skipBlock(src, at)
			continue
		}
		at = skipToken(src, at)
	}
	return -1
}

// skipBlock returns the end of the block that starts at a brace.
func skipBlock(src []byte, at int) int {
	depth := 0
	for at < len(src) {
		switch src[at] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return at + 1
			}
		}
		at = skipToken(src, at)
	}
	return at
}

// special has the bytes that mean something here.
var special = [256]bool{
	'"': true, '\'': true, '`': true, '/': true, '\n': true, '{': true, '}': true, '(': true, ')': true, '[': true, ']': true,
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
		return after(src, at+2, "\n") - 1 // the end of the line counts
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
