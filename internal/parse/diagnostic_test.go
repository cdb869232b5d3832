package parse

import (
	"go/token"
	"testing"
)

// What is sorted may be sorted again, together with others.
func TestSortMakesOneOfThoseThatDifferInDecorators(t *testing.T) {
	at := func(line int, message, decorators string) Diagnostic {
		if decorators != "" {
			message += ", but " + Needed(decorators) + ": want none"
		}
		return Diagnostic{Pos: token.Position{Filename: "a.go", Line: line, Column: 1}, Message: message, Decorators: decorators}
	}
	ds := Diagnostics{}
	for _, test := range []struct {
		add  Diagnostics
		want string
	}{
		{
			Diagnostics{at(1, "x", "b.B"), at(1, "y", "b.B"), at(1, "x", "")},
			"a.go:1:1: x\n" +
				"a.go:1:1: x, but the decorator of b.B needs it: want none\n" +
				"a.go:1:1: y, but the decorator of b.B needs it: want none",
		},
		{
			Diagnostics{at(1, "x", "c.C"), at(1, "x", "b.B"), at(1, "x", "")},
			"a.go:1:1: x\n" +
				"a.go:1:1: x, but the decorators of b.B and c.C need it: want none\n" +
				"a.go:1:1: y, but the decorator of b.B needs it: want none",
		},
		{
			Diagnostics{at(1, "x", "a.A"), at(1, "y", "a.A"), at(2, "x", "a.A")},
			"a.go:1:1: x\n" +
				"a.go:1:1: x, but the decorators of a.A, b.B and c.C need it: want none\n" +
				"a.go:1:1: y, but the decorators of a.A and b.B need it: want none\n" +
				"a.go:2:1: x, but the decorator of a.A needs it: want none",
		},
	} {
		ds = append(ds, test.add...)
		ds.Sort()
		if got := ds.Error(); got != test.want {
			t.Errorf("got\n%s\nwant\n%s", got, test.want)
		}
	}
}
