package annotations

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// attribute is one name=value, or bare name, of a directive.
type attribute struct {
	name   string
	offset int // of the name
	value  value
	bare   bool // a name alone, whose value is "true"
	broken bool // the value is not readable, which is already reported
}

type lexer struct {
	text  string
	pos   int
	errs  Errors
	slips int // of errs, those that leave no doubt about what was meant
}

// lex splits the line into attributes, from offset to its end. It reports whether no other may be hidden by mistakes.
func lex(text string, offset int) (attributes []attribute, errs Errors, isAll bool) {
	l := &lexer{text: text, pos: offset}
	for l.skipBlanks(); l.pos < len(text); l.skipBlanks() {
		if attr, ok := l.attribute(); ok {
			attributes = append(attributes, attr)
		}
	}
	return attributes, l.errs, len(l.errs) == l.slips
}

// rest is the text that is not read yet.
func (l *lexer) rest() string { return l.text[l.pos:] }

func (l *lexer) skipBlanks() {
	l.pos = len(l.text) - len(strings.TrimLeft(l.rest(), blanks))
}

// upTo reads up to the first of the stop bytes, or all the rest.
func (l *lexer) upTo(stops string) string {
	word := l.rest()
	if i := strings.IndexAny(word, stops); i >= 0 {
		word = word[:i]
	}
	l.pos += len(word)
	return word
}

var (
	attributeName  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)
	attributeStart = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]*)([=:])`)
)

// attribute reads one attribute. It reports false for a word that is none.
func (l *lexer) attribute() (attribute, bool) {
	start := l.pos
	if strings.HasPrefix(l.rest(), "//") {
		l.errs.add(start, "comment after the attributes: want it on a line of its own")
		l.pos = len(l.text)
		return attribute{}, false
	}
	name := l.upTo(blanks + "=")
	if head, _, ok := strings.Cut(name, ":"); ok && nearestAttribute(head) != "" {
		l.pos = start + len(head)
		name = head
	}
	if !attributeName.MatchString(name) {
		l.upTo(blanks)
		l.errs.add(start, "%q: want name=value", l.text[start:l.pos])
		return attribute{}, false
	}
	attr := attribute{name: name, offset: start}
	if !l.equals(name) {
		attr.bare = true
		attr.value = value{name: name, text: "true", offset: start}
		return attr, true
	}
	before := len(l.errs)
	attr.value = l.value(attr)
	attr.broken = len(l.errs) > before
	return attr, true
}

// equals reads the = after a name, and a colon in its place or blanks around it, which must not be there but leave no doubt about
// what was meant.
func (l *lexer) equals(name string) bool {
	end := l.pos
	isColon := strings.HasPrefix(l.rest(), ":")
	l.skipBlanks()
	if !isColon && !strings.HasPrefix(l.rest(), "=") {
		l.pos = end
		return false
	}
	spaced := l.pos > end
	l.pos++
	after := l.pos
	l.skipBlanks()
	if l.rest() == "" || l.pos > after && l.atAttribute() {
		l.pos = after // an empty value, whose error says enough
		return true
	}
	if isColon {
		l.errs.add(end, "%s: colon in place of =: want %[1]s=VALUE", name)
		l.errs.edit(end, l.text[end:l.pos], "=")
		l.slips++
		return true
	}
	if spaced || l.pos > after {
		l.errs.add(end, "%s: blanks around =: want %[1]s=VALUE", name)
		l.errs.edit(end, l.text[end:l.pos], "=")
		l.slips++
	}
	return true
}

// atAttribute reports whether what follows is an attribute, and not the value of the one before. With a colon it is one only by a
// name that there is: in "key: user:{id}" it is a value.
func (l *lexer) atAttribute() bool {
	m := attributeStart.FindStringSubmatch(l.rest())
	return m != nil && (m[2] == "=" || lookup(m[1]) != nil)
}

// value reads the value after the = of an attribute.
func (l *lexer) value(attr attribute) value {
	v := value{name: attr.name, offset: l.pos}
	before := len(l.errs)
	switch rest := l.rest(); {
	case strings.HasPrefix(rest, `"`):
		l.goString(&v)
	case strings.HasPrefix(rest, "`"):
		l.rawString(&v)
	default:
		l.bare(&v)
	}
	if len(l.errs) > before {
		return v
	}
	if v.text == "" {
		l.errs.add(attr.offset, "%s: empty value: want %[1]s=VALUE", attr.name)
	} else if mistake := unprintable(v); mistake != nil {
		l.errs = append(l.errs, mistake)
	}
	return v
}

func (l *lexer) bare(v *value) {
	end, mistake := scanBare(l.rest())
	v.text = l.rest()[:end]
	l.pos += end
	if mistake != nil {
		l.errs = append(l.errs, v.errorAt(mistake.Offset, "%s", mistake.Message))
	}
}

func (l *lexer) rawString(v *value) {
	open := l.pos
	l.pos++
	v.offset = l.pos
	v.text = l.upTo("`")
	if l.rest() == "" {
		l.errs.add(open, "%s: raw string is not closed: want `", v.name)
		return
	}
	l.closeQuote(v)
}

// goString reads a string as strconv.Unquote does, but keeps where each byte comes from.
func (l *lexer) goString(v *value) {
	open := l.pos
	l.pos++
	v.offset = l.pos
	var text []byte
	var offsets []int
	for l.pos < len(l.text) {
		start := l.pos
		switch l.text[l.pos] {
		case '"':
			v.text = string(text)
			if len(text) < start-v.offset { // an escape is longer than what it stands for
				offsets = append(offsets, start)
				v.offsets = offsets
			}
			l.closeQuote(v)
			return
		case '\\':
			text = l.escape(v, text)
		default:
			text = append(text, l.text[l.pos])
			l.pos++
		}
		for len(offsets) < len(text) {
			offsets = append(offsets, start)
		}
	}
	l.errs.add(open, `%s: string is not closed: want "`, v.name)
}

// escape reads one escape and appends what it stands for to text.
func (l *lexer) escape(v *value, text []byte) []byte {
	char, multibyte, tail, err := strconv.UnquoteChar(l.rest(), '"')
	if err != nil {
		_, size := utf8.DecodeRuneInString(l.rest()[len(`\`):])
		end := l.pos + len(`\`) + size
		l.errs.add(l.pos, "%s: unknown escape %s: want one of a Go string", v.name, show(l.text[l.pos:end]))
		l.pos = end
		return text
	}
	l.pos = len(l.text) - len(tail)
	if multibyte {
		return utf8.AppendRune(text, char)
	}
	return append(text, byte(char))
}

// closeQuote reads a closing quote, which ends the value.
func (l *lexer) closeQuote(v *value) {
	l.pos++
	if rest := l.rest(); rest != "" && strings.IndexAny(rest, blanks) != 0 {
		l.errs.add(l.pos, "%s: text after the closing quote: want a blank", v.name)
		l.upTo(blanks)
	}
}

// scanBare returns where the bare value at the start of s ends, and the first mistake in it, with an offset in s.
func scanBare(s string) (end int, mistake *Error) {
	for end < len(s) {
		switch c := s[end]; {
		case c == ' ' || c == '\t':
			return end, mistake
		case c == '"' || c == '`':
			if mistake == nil {
				mistake = &Error{Offset: end, Message: "quote inside a bare value: want the whole value quoted"}
			}
			end++
			end += strings.IndexByte(s[end:], c) + 1 // past the closing quote, if any, so that its text is no attribute
		case strings.HasPrefix(s[end:], "{{"):
			end += len("{{")
		case c == '{':
			size := holeSize(s[end:])
			if size < 0 {
				return len(s), &Error{Offset: end, Message: notClosed}
			}
			end += size
		default:
			end++
		}
	}
	return end, mistake
}

// unprintable reports the first byte of the value that is not text.
func unprintable(v value) *Error {
	for i, char := range v.text {
		if _, size := utf8.DecodeRuneInString(v.text[i:]); char == utf8.RuneError && size == 1 {
			return v.errorAt(i, "byte 0x%02x: want UTF-8", v.text[i])
		}
		if unicode.IsControl(char) {
			return v.errorAt(i, "control character %U: want printable text", char)
		}
	}
	return nil
}
