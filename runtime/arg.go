package ratelimit

import (
	"encoding"
	"fmt"
	"strconv"
)

// Arg is what one call tells the limits of its method: a part of a key, its cost, or that a limit is not meant. The zero
// value is a part that is missing. Generated code makes Args from the parameters of a call, see [Guard.Allow].
type Arg struct {
	kind argKind
	on   bool   // of a boolean part, or the condition of SkipIf
	num  uint64 // of a number, in two's complement
	text string // of a text; of Cost and SkipIf the limit's name
	err  error  // why a part has no text
}

type argKind uint8

const (
	missingPart argKind = iota
	textPart
	intPart
	uintPart
	boolPart
	brokenPart
	costArg
	skipArg
)

// String is a part of a key. Like all text that may come from a caller it is escaped; if it is empty, the part is missing.
func String(s string) Arg {
	if s == "" {
		return Arg{}
	}
	return Arg{kind: textPart, text: s}
}

// Bytes is [String] for bytes.
func Bytes(b []byte) Arg { return String(string(b)) }

// Int is a part of a key.
func Int(n int64) Arg { return Arg{kind: intPart, num: uint64(n)} }

// Uint is a part of a key.
func Uint(n uint64) Arg { return Arg{kind: uintPart, num: n} }

// Bool is a part of a key, true or false.
func Bool(b bool) Arg { return Arg{kind: boolPart, on: b} }

// Stringer is [String] for the text of s. Of a nil s the part is missing.
func Stringer(s fmt.Stringer) Arg {
	if s == nil {
		return Arg{}
	}
	return String(s.String())
}

// Text is [String] for the text of m. Of a nil m the part is missing; if m fails, so does the decision.
func Text(m encoding.TextMarshaler) Arg {
	if m == nil {
		return Arg{}
	}
	text, err := m.MarshalText()
	if err != nil {
		return Arg{kind: brokenPart, err: err}
	}
	return Bytes(text)
}

// Cost is what the call takes of the limit of that name, for a [Rule] with CostArg. 0 takes nothing; a negative cost is
// an error.
func Cost(limit string, n int64) Arg { return Arg{kind: costArg, text: limit, num: uint64(n)} }

// SkipIf says that the limit of that name does not count the call if the condition is true.
func SkipIf(limit string, condition bool) Arg { return Arg{kind: skipArg, text: limit, on: condition} }

// appendTo appends a part to a key and reports whether there was one.
func (a *Arg) appendTo(dst []byte) ([]byte, bool) {
	switch a.kind {
	case textPart:
		return appendPart(dst, a.text), true
	case intPart:
		return strconv.AppendInt(dst, int64(a.num), 10), true
	case uintPart:
		return strconv.AppendUint(dst, a.num, 10), true
	case boolPart:
		return strconv.AppendBool(dst, a.on), true
	}
	return dst, false
}

// args are those of one call.
type args []Arg

// skips reports whether the call is not to be counted by the limit of that name.
func (as args) skips(limit string) bool {
	for i := range as {
		if a := &as[i]; a.kind == skipArg && a.on && a.text == limit {
			return true
		}
	}
	return false
}

// cost returns what the call takes of the limit of that name.
func (as args) cost(limit string) (int64, error) {
	for i := range as {
		if a := &as[i]; a.kind == costArg && a.text == limit {
			if n := int64(a.num); n >= 0 {
				return n, nil
			}
			return 0, fmt.Errorf("ratelimit: the cost of limit %s is %d: want at least 0", limit, int64(a.num))
		}
	}
	return 0, fmt.Errorf("ratelimit: no Cost for limit %s, whose rule has CostArg", limit)
}

// check returns an error unless the call has n parts for the keys of its method, before all else, and each has a text or
// is missing.
func (as args) check(n int) error {
	parts := 0
	for parts < len(as) && as[parts].kind < costArg {
		if as[parts].kind == brokenPart {
			return fmt.Errorf("ratelimit: part %d of the call: %w", parts+1, as[parts].err)
		}
		parts++
	}
	if parts != n {
		return fmt.Errorf("ratelimit: the call has %d parts for its keys: want %d", parts, n)
	}
	return nil
}
