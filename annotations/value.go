package annotations

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// value is the value of an attribute without its quotes.
type value struct {
	name   string // of the attribute, for messages
	text   string
	offset int // of text[0]

	// offsets has the offset of each byte of text, and of its end, where escapes have moved them; nil elsewhere.
	offsets []int
}

// at returns the offset of text[i].
func (v value) at(i int) int {
	if v.offsets != nil {
		return v.offsets[i]
	}
	return v.offset + i
}

// errorAt reports a mistake at text[i].
func (v value) errorAt(i int, format string, args ...any) *Error {
	return &Error{Offset: v.at(i), Message: v.name + ": " + fmt.Sprintf(format, args...)}
}

// want reports that the value as a whole is wrong.
func (v value) want(format string, args ...any) Errors {
	return Errors{{Offset: v.offset, Message: v.name + "=" + show(v.text) + ": " + fmt.Sprintf(format, args...)}}
}

// show returns text as it may stand in a message: quoted when a reader could not see where it ends, or what is in it.
func show(text string) string {
	plain := func(r rune) bool { return r != ' ' && r != utf8.RuneError && strconv.IsPrint(r) }
	if strings.TrimFunc(text, plain) != "" {
		return strconv.Quote(text)
	}
	return text
}
