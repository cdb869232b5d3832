package ratelimit_test

import (
	"context"
	"slices"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// A refusal may be remembered only where units come back with time: what is given back through another process would be
// refused here until then.
func TestUnitsThatMayComeBackAreAskedForAfresh(t *testing.T) {
	limited := rule(fivePerSecond)
	windowed := waiting(ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 5, Period: time.Second}, time.Second)
	look, ahead, other, queued, returned, slots := limited, limited, limited, waiting(fivePerSecond, time.Second), limited, limited
	returned.Refunds, returned.Name = true, "returned"
	slots.Limit, slots.Name = ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 5, Period: time.Minute}, "slots"
	look.Mode, look.Name = ratelimit.ModeShadow, "look"
	ahead.Prefetch, ahead.Name = 3, "ahead"
	other.Name, queued.Name, windowed.Name = "other", "queued", "windowed"
	allow := func(ctx context.Context, g *ratelimit.Guard) error { return g.Allow(ctx) }
	begin := func(ctx context.Context, g *ratelimit.Guard) error {
		_, err := g.Begin(ctx) // and may then call Refund
		return err
	}
	for _, tt := range []struct {
		name  string
		call  func(context.Context, *ratelimit.Guard) error
		rules []ratelimit.Rule
		want  []bool
	}{
		{"call", allow, []ratelimit.Rule{limited, other}, []bool{false, false}},
		{"call that may end with a refund", begin, []ratelimit.Rule{limited, other}, []bool{true, true}},
		{"call that ends as it has slots", begin, []ratelimit.Rule{slots, limited, returned}, []bool{false, false, true}},
		{"limit to which others give back", allow, []ratelimit.Rule{returned, limited}, []bool{true, false}},
		{"call that may give up waiting for another limit", allow, []ratelimit.Rule{limited, queued}, []bool{true, true}},
		{"call that may wait for a window", allow, []ratelimit.Rule{windowed}, []bool{true}},
		{"limit of which processes take in advance, and may give back", allow, []ratelimit.Rule{ahead, limited}, []bool{true, false}},
		{"limit that only looks on, which is asked after the others", allow, []ratelimit.Rule{look, limited}, []bool{false, true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := &script{}
			if err := tt.call(t.Context(), newLimiter(t, store).Guard("m", tt.rules...)); err != nil {
				t.Fatal(err)
			}
			var got []bool
			for _, c := range store.asked {
				got = append(got, c.Fresh)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("Fresh is %v: want %v", got, tt.want)
			}
		})
	}
}
