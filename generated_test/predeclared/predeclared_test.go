package predeclared_test

import (
	"errors"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	"github.com/ratelimitgen/ratelimitgen/generated_test/predeclared"
)

type label struct{ limittest.Calls }

func (l *label) Set(a string, b int, c bool, d any) error {
	l.Add("Set", a, b, c, d)
	return nil
}

func (l *label) Get(a error, b []byte, c int) (bool, error) {
	l.Add("Get", a, b, c)
	return true, nil
}

func (l *label) Test(a, b bool) (bool, error) {
	l.Add("Test", a, b)
	return true, nil
}

func (l *label) Format(a byte, b rune, c, d, e, f, g string) string {
	l.Add("Format", a, b, c, d, e, f, g)
	return "formatted"
}

func TestLabel(t *testing.T) {
	var next label
	l := predeclared.NewRateLimitedLabel(&next, limittest.Limiter(t))
	limittest.Admits(t, 2, "predeclared.Label.Set", func() error { return l.Set("a", 1, true, 2.5) })
	next.Want(t, 2, "Set", "a", 1, true, 2.5)
	cause := errors.New("cause")
	for method, call := range map[string]func() (bool, error){
		"predeclared.Label.Get":  func() (bool, error) { return l.Get(cause, []byte("b"), 3) },
		"predeclared.Label.Test": func() (bool, error) { return l.Test(true, false) },
	} {
		limittest.Admits(t, 2, method, func() error {
			ok, err := call()
			if ok != (err == nil) {
				t.Errorf("%s: got %v, %v", method, ok, err)
			}
			return err
		})
	}
	if got := l.Format('a', 'b', "c", "d", "e", "f", "g"); got != "formatted" {
		t.Errorf("got %q", got)
	}
	next.Want(t, 7, "Format", byte('a'), 'b', "c", "d", "e", "f", "g")
}
