package modes

import (
	"context"
	"errors"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// enforce has limits that the directives do not enforce hold.
func enforce(t *testing.T, l *ratelimit.Limiter, ids ...string) {
	t.Helper()
	o := &ratelimit.Overrides{Limits: map[string]*ratelimit.Override{}}
	for _, id := range ids {
		o.Limits[id] = &ratelimit.Override{Mode: new(ratelimit.ModeEnforce)}
	}
	if err := l.Override(o); err != nil {
		t.Fatal(err)
	}
}

// Limits stay in the code so that they can be switched on, with all that they have: cost, skip, refund, wait and slots.
func TestLimitsThatAreSwitchedOn(t *testing.T) {
	limiter := limittest.Limiter(t)
	s := NewRateLimitedSearch(&search{}, limiter)
	enforce(t, limiter, "modes.Search.Off#1h", "modes.Search.Whole#1h", "modes.Search.Slots#30s")
	ctx := ratelimit.WithCaller(t.Context(), "user", "ann")

	limittest.Admits(t, 1, "modes.Search.Off", func() error { return s.Off(ctx) })
	limittest.Admits(t, 2, "modes.Search.Whole", func() error { return s.Whole(ctx, "q") })
	if err := s.Whole(ctx, ""); err != nil {
		t.Errorf("a call that is skipped gets %v", err)
	}
	if err := s.Whole(t.Context(), "q"); !errors.Is(err, ratelimit.ErrLimited) {
		t.Errorf("a call of nobody gets %v, want a refusal", err)
	}
	err := s.Slots(ctx, func(ctx context.Context) error {
		return s.Slots(ctx, func(context.Context) error { return nil })
	})
	if !errors.Is(err, ratelimit.ErrLimited) {
		t.Errorf("a second slot is given: %v", err)
	}

	enforce(t, limiter)
	if err := s.Off(ctx); err != nil {
		t.Errorf("off again, a call gets %v", err)
	}
}

func TestFallbackOfALimitThatIsSwitchedOn(t *testing.T) {
	limiter := limittest.Limiter(t)
	q := NewRateLimitedQuiet(quiet{}, limiter)
	enforce(t, limiter, "modes.Quiet.Count#1h", "modes.Quiet.Both#1d")
	for name, call := range map[string]func() int{"Count": q.Count, "Both": q.Both} {
		if first, second := call(), call(); first != 1 || second != -1 {
			t.Errorf("%s: got %d and %d, want what the service returns, and what the fallback does", name, first, second)
		}
	}
}
