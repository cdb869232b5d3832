//go:build !race

package ratelimit_test

import (
	"context"
	"net/netip"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// A call of an overridden limit allocates nothing either, however the caller is found.
func TestOverriddenCallAllocatesNothing(t *testing.T) {
	ctx := ratelimit.WithClientIP(t.Context(), netip.MustParseAddr("203.0.113.7"))
	ctx = ratelimit.WithCaller(ratelimit.WithCaller(ctx, "user", "ann"), "tenant", "acme")
	rule := ratelimit.Rule{Key: "get:{@user}", Name: "1s", Limit: ratelimit.Limit{
		Algorithm: ratelimit.FixedWindow, Count: 1_000_000, Period: time.Hour,
	}}
	const million = 1_000_000
	for name, o := range overriddenBy(million) {
		t.Run(name, func(t *testing.T) {
			by := func(ctx context.Context, _ string) (ratelimit.Override, bool) {
				_, ok := ratelimit.ClientIP(ctx)
				return ratelimit.Override{Count: 2 * million}, ok && name == "a function"
			}
			limiter := newLimiter(t, memlimit.New(), ratelimit.OverrideBy(by))
			guard := limiter.Guard("m.Get", rule)
			override(t, limiter, o)
			allocs := testing.AllocsPerRun(100, func() {
				if err := guard.Allow(ctx); err != nil {
					t.Fatal(err)
				}
			})
			if allocs != 0 {
				t.Errorf("a call allocates %v times", allocs)
			}
		})
	}
}
