// Package limittest is what the tests of the cases have in common.
package limittest

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// Limiter returns a limiter with a store of its own, in memory.
func Limiter(t testing.TB) *ratelimit.Limiter {
	t.Helper()
	limiter, err := ratelimit.New(memlimit.New())
	if err != nil {
		t.Fatal(err)
	}
	return limiter
}

// Admits checks that call succeeds n times, and is then refused by a limit of the named method.
func Admits(t testing.TB, n int, method string, call func() error) {
	t.Helper()
	for i := range n {
		if err := call(); err != nil {
			t.Fatalf("call %d of %s: %v", i+1, method, err)
		}
	}
	err := call()
	var refusal *ratelimit.LimitError
	if !errors.As(err, &refusal) || !errors.Is(err, ratelimit.ErrLimited) {
		t.Fatalf("call %d of %s: got error %v, want a refusal", n+1, method, err)
	}
	if refusal.Method != method {
		t.Errorf("call %d is refused for %s, want %s", n+1, refusal.Method, method)
	}
}

// Key calls until it is refused, at most n times, and returns the key of the bucket that refused, or else what the call
// lacks.
func Key(t testing.TB, n int, call func() error) string {
	t.Helper()
	for range n {
		err := call()
		var refusal *ratelimit.LimitError
		switch {
		case err == nil:
		case !errors.As(err, &refusal):
			t.Fatalf("got error %v, want a refusal", err)
		case refusal.Missing != "":
			return "no " + refusal.Missing
		default:
			return refusal.Key
		}
	}
	t.Fatalf("%d calls are not refused", n)
	return ""
}

// Calls are the calls that reached a fake.
type Calls []string

// Add notes a call.
func (c *Calls) Add(method string, args ...any) { *c = append(*c, describe(method, args)) }

// Want checks that there were n calls, of which the last was of that method with those arguments.
func (c *Calls) Want(t testing.TB, n int, method string, args ...any) {
	t.Helper()
	if len(*c) != n {
		t.Fatalf("%d calls reached the decorated value, want %d: %v", len(*c), n, *c)
	}
	if got, want := (*c)[n-1], describe(method, args); got != want {
		t.Errorf("got call %s, want %s", got, want)
	}
}

// describe tells apart what formatting alone would not: types, nil and empty, and the identity of pointers, channels and
// functions.
func describe(method string, args []any) string {
	text := method
	for _, arg := range args {
		switch v := reflect.ValueOf(arg); v.Kind() {
		case reflect.Pointer, reflect.Chan, reflect.Func:
			text += fmt.Sprintf(" %T@%#x", arg, v.Pointer())
		default:
			text += fmt.Sprintf(" %#v", arg)
		}
	}
	return text
}
