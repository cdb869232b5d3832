package costs

import (
	"context"
	"errors"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

type export struct{ calls int }

func (e *export) Flags(_ context.Context, _ Flag, b *Switch) (Flag, error) {
	e.calls++
	return b != nil && b.Flag, nil
}

func (e *export) Many(context.Context, ...string) error { e.calls++; return nil }
func (e *export) Batch(context.Context, Batch) error    { e.calls++; return nil }
func (e *export) Constant(context.Context) error        { e.calls++; return nil }
func (e *export) Named(context.Context, Units) error    { e.calls++; return nil }
func (e *export) Negative(context.Context, int) error   { e.calls++; return nil }
func (e *export) Huge(context.Context, uint64) error    { e.calls++; return nil }
func (e *export) Word(context.Context, uint) error      { e.calls++; return nil }
func (e *export) Skips(context.Context, int) error      { e.calls++; return nil }

func TestCosts(t *testing.T) {
	ctx := t.Context()
	many := func(n int) func(Export) error {
		return func(e Export) error { return e.Many(ctx, make([]string, n)...) }
	}
	batch := func(e Export) error { return e.Batch(ctx, Batch{make([]string, 2)}) }
	constant := func(e Export) error { return e.Constant(ctx) }
	named := func(n Units) func(Export) error { return func(e Export) error { return e.Named(ctx, n) } }
	huge := func(n uint64) func(Export) error { return func(e Export) error { return e.Huge(ctx, n) } }
	word := func(n uint) func(Export) error { return func(e Export) error { return e.Word(ctx, n) } }
	skips := func(n int) func(Export) error { return func(e Export) error { return e.Skips(ctx, n) } }
	flags := func(flag Flag, b *Switch) func(Export) error {
		return func(e Export) error { _, err := e.Flags(ctx, flag, b); return err }
	}
	on := &Switch{Flag: true, Next: &Switch{}}
	type calls []func(Export) error
	for _, test := range []struct {
		what  string
		calls calls
		want  string // of each call: admitted or refused
	}{
		{"2 + 3 of 5", calls{many(2), many(3), many(1), many(0)}, "aara"},
		{"more than there are", calls{many(6), many(5)}, "ra"},
		{"2 + 2 of 5, and of 5", calls{batch, batch, batch}, "aar"},
		{"a constant", calls{constant, constant}, "ar"},
		{"too many to be counted", calls{named(5), named(1), named(6)}, "ara"},
		{"more than an int64 holds", calls{huge(1 << 63), huge(1<<64 - 1), huge(5), huge(1)}, "rrar"},
		{"more than an int holds", calls{word(^uint(0)), word(5), word(1)}, "rar"},
		{"one of the limits is skipped", calls{skips(1), skips(7), skips(1), skips(1), skips(7)}, "aaara"},
		{"a flag that is not set", calls{flags(false, nil), flags(false, nil)}, "ar"},
		{"a flag that is set, and nobody knows the second", calls{flags(true, nil), flags(true, nil), flags(true, nil)}, "aar"},
		{"a flag that is set, unlike the second", calls{flags(true, &Switch{}), flags(true, &Switch{}), flags(true, &Switch{})}, "aaa"},
		{"the first is given back", calls{flags(false, on), flags(false, on), flags(false, on)}, "aar"},
	} {
		next := &export{}
		e := NewRateLimitedExport(next, limittest.Limiter(t))
		got, admitted := "", 0
		for _, call := range test.calls {
			switch err := call(e); {
			case err == nil:
				got += "a"
				admitted++
			case errors.Is(err, ratelimit.ErrLimited):
				got += "r"
			default:
				t.Errorf("%s: %v", test.what, err)
			}
		}
		if got != test.want || next.calls != admitted {
			t.Errorf("%s: calls are %s, and %d reach the service, want %s", test.what, got, next.calls, test.want)
		}
	}
}

func TestNegativeCostIsAnError(t *testing.T) {
	next := &export{}
	err := NewRateLimitedExport(next, limittest.Limiter(t)).Negative(t.Context(), -1)
	var undecided *ratelimit.DecisionError
	if !errors.As(err, &undecided) || next.calls > 0 {
		t.Errorf("got %v and %d calls, want an error that says so", err, next.calls)
	}
}
