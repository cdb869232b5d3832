package prefetch

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"testing"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// store notes what is taken from it.
type store struct {
	*memlimit.Store
	taken []int64
}

func (s *store) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	for _, c := range charges {
		s.taken = append(s.taken, c.Cost)
	}
	return s.Store.Take(ctx, charges, results)
}

func (s *store) check(t *testing.T, want ...int64) {
	t.Helper()
	if !slices.Equal(s.taken, want) {
		t.Errorf("%v units were taken from the store: want %v", s.taken, want)
	}
	s.taken = nil
}

type feed struct{ err error }

func (f *feed) Read(context.Context, string) (string, error)    { return "", f.err }
func (f *feed) ReadAll(ctx context.Context, ids []string) error { return f.err }
func (f *feed) Write(context.Context, string) error             { return f.err }

func newFeed(t *testing.T) (*RateLimitedFeed, *feed, *store, *ratelimit.Limiter) {
	t.Helper()
	s, next := &store{Store: memlimit.New()}, &feed{}
	limiter, err := ratelimit.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return NewRateLimitedFeed(next, limiter), next, s, limiter
}

func TestOneCallInAHundredGoesToTheStore(t *testing.T) {
	f, _, s, limiter := newFeed(t)
	ctx := ratelimit.WithClientIP(t.Context(), netip.MustParseAddr("192.0.2.1"))
	for range 250 {
		if _, err := f.Read(ctx, "id"); err != nil {
			t.Fatal(err)
		}
	}
	s.check(t, 100, 100, 100)
	if err := limiter.Close(ctx); err != nil || s.Len() != 1 {
		t.Errorf("%d buckets, error %v", s.Len(), err)
	}
	if _, err := f.Read(ctx, "id"); err != nil {
		t.Fatal(err)
	}
	s.check(t, 1)
}

func TestUnitsThatAreGivenBackServeTheNextCall(t *testing.T) {
	f, next, s, _ := newFeed(t)
	next.err = errors.New("no such feed")
	for range 3 {
		if err := f.ReadAll(t.Context(), make([]string, 9)); !errors.Is(err, next.err) {
			t.Fatal(err)
		}
	}
	s.check(t, 10)
}

func TestWhatOneLimitRefusesTheOtherKeeps(t *testing.T) {
	f, _, s, _ := newFeed(t)
	for i := range 12 {
		if err := f.Write(t.Context(), ""); (err != nil) != (i >= 10) {
			t.Fatalf("call %d: %v", i+1, err)
		}
	}
	s.check(t, 4, 1, 1, 1, 1, 4, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1)
}
