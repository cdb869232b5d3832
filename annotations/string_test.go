package annotations

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestString(t *testing.T) {
	for _, test := range []struct{ directive, want string }{
		{`//ratelimit:skip `, `//ratelimit:skip`},
		{`//ratelimit:limit count=5`, `//ratelimit:count=5`},
		{"//ratelimit:time=60 \t count=\"5\" ip", `//ratelimit:time=60 count=5 ip`},
		{`//ratelimit:ip=true rate=5/s by=user`, `//ratelimit:ip=true rate=5/s by=user`},
		{`//ratelimit:count=5 key="a{f(b, c)}"`, `//ratelimit:count=5 key=a{f(b, c)}`},
		{`//ratelimit:count=5 key="a {m[\"x\"]}"`, "//ratelimit:count=5 key=`a {m[\"x\"]}`"},
		{"//ratelimit:count=5 message=`a b`", `//ratelimit:count=5 message="a b"`},
		{"//ratelimit:count=5 message=`it's`", `//ratelimit:count=5 message=it's`},
		{"//ratelimit:count=5 message=\"`a\\\"\"", "//ratelimit:count=5 message=\"`a\\\"\""},
		{`//ratelimit:count=5 message="a{"`, `//ratelimit:count=5 message="a{"`},
		{`//ratelimit:count=5 message="\\"`, `//ratelimit:count=5 message=\`},
		{`//ratelimit:count=5 message="a "`, `//ratelimit:count=5 message="a "`},
	} {
		a, err := Parse(test.directive)
		if err != nil {
			t.Errorf("%s\n%v", test.directive, err)
			continue
		}
		if got := a.String(); got != test.want {
			t.Errorf("%s\ngot  %s\nwant %s", test.directive, got, test.want)
		}
	}
}

// values returns the annotation without what depends on where it was written.
func values(a *Annotation) Annotation {
	expr := func(e *Expr) *Expr {
		if e == nil {
			return nil
		}
		return &Expr{Text: e.Text}
	}
	v := *a
	v.attributes = nil
	v.CostExpr, v.Skip, v.Refund = expr(a.CostExpr), expr(a.Skip), expr(a.Refund)
	if a.Key != nil {
		v.Key = &Template{}
		for _, part := range a.Key.Parts {
			part.Expr, part.Offset = expr(part.Expr), 0
			v.Key.Parts = append(v.Key.Parts, part)
		}
	}
	return v
}

func FuzzParse(f *testing.F) {
	for _, test := range valid {
		f.Add(test.directive)
	}
	for _, test := range invalid {
		directive, _ := splitMarks(test.directive)
		f.Add(directive)
	}
	f.Fuzz(func(t *testing.T, comment string) {
		a, err := Parse(comment)
		if err != nil {
			checkErrors(t, comment, err)
			return
		}
		if a == nil {
			return
		}
		for _, attr := range a.attributes {
			if !strings.HasPrefix(comment[a.Offset(attr.name):], attr.name) {
				t.Errorf("%q: %s is not at %d", comment, attr.name, a.Offset(attr.name))
			}
		}
		again, err := Parse(a.String())
		if err != nil {
			t.Fatalf("%q: %s: %v", comment, a, err)
		}
		if !reflect.DeepEqual(values(again), values(a)) {
			t.Errorf("%q: %s\ngot  %+v\nwant %+v", comment, a, values(again), values(a))
		}
		if again.String() != a.String() {
			t.Errorf("%q: got %s\nwant %s", comment, again, a)
		}
	})
}

// checkErrors checks what holds for the mistakes of any comment.
func checkErrors(t *testing.T, comment string, err error) {
	var mistakes Errors
	if !errors.As(err, &mistakes) || len(mistakes) == 0 {
		t.Fatalf("%q: got %#v, want mistakes", comment, err)
	}
	last := 0
	for _, mistake := range mistakes {
		if mistake.Offset < last || mistake.Offset > len(comment) {
			t.Errorf("%q: offset %d of %q, want %d to %d", comment, mistake.Offset, mistake.Message, last, len(comment))
		}
		if mistake.Message == "" || strings.ContainsAny(mistake.Message, "\n\r\x00") {
			t.Errorf("%q: message %q, want one line", comment, mistake.Message)
		}
		last = mistake.Offset
	}
}
