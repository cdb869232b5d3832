//go:build !race

package ratelimit_test

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// A call that is allowed allocates nothing, whatever its key is made of. Under the race detector it may, since sync.Pool
// then forgets by chance.
func TestAllowedCallAllocatesNothing(t *testing.T) {
	ctx := ratelimit.WithClientIP(t.Context(), netip.MustParseAddr("203.0.113.7"))
	ctx = ratelimit.WithCaller(ctx, "user", "ann {1}")
	ipv6 := ratelimit.WithClientIP(t.Context(), netip.MustParseAddr("2001:db8::1"))
	limit := ratelimit.Limit{Count: 1_000_000, Period: time.Hour}
	path := strings.Repeat("a/b", 40)
	tests := []struct {
		name string
		rule ratelimit.Rule
		call func(*ratelimit.Guard) error
	}{
		{"a shared key", ratelimit.Rule{Key: "get"}, func(g *ratelimit.Guard) error { return g.Allow(ctx) }},
		{"an IPv4 address", ratelimit.Rule{Key: "get:{@ip}"}, func(g *ratelimit.Guard) error { return g.Allow(ctx) }},
		{"an IPv6 address", ratelimit.Rule{Key: "get:{@ip}"}, func(g *ratelimit.Guard) error { return g.Allow(ipv6) }},
		{"a caller and a string that is escaped", ratelimit.Rule{Key: "get:{@user}:{id}"}, func(g *ratelimit.Guard) error { return g.Allow(ctx, ratelimit.String("a:b")) }},
		{"strings and integers", ratelimit.Rule{Key: "{tenant}/{id}-{page}"}, func(g *ratelimit.Guard) error {
			return g.Allow(ctx, ratelimit.String("acme"), ratelimit.Int(-12), ratelimit.Uint(3))
		}},
		{"a string with what follows it in the key", ratelimit.Rule{Key: "{path}/get"}, func(g *ratelimit.Guard) error {
			return g.Allow(ctx, ratelimit.String(path))
		}},
		{"a cost and a condition", ratelimit.Rule{Key: "get", CostArg: true}, func(g *ratelimit.Guard) error {
			return g.Allow(ctx, ratelimit.Cost("1s", 2), ratelimit.SkipIf("1s", false))
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.rule.Name, test.rule.Limit = "1s", limit
			calls := 0
			count := observe(func(context.Context, *ratelimit.Event) { calls++ })
			for observer, options := range map[string][]ratelimit.Option{
				"nobody observes": nil,
				"observed":        {ratelimit.Observe(count)},
				"logged":          {ratelimit.Observe(ratelimit.Log(nil))},
			} {
				guard := newLimiter(t, memlimit.New(), options...).Guard("m", test.rule)
				allocs := testing.AllocsPerRun(100, func() {
					if err := test.call(guard); err != nil {
						t.Fatal(err)
					}
				})
				if allocs != 0 {
					t.Errorf("%s: a call allocates %v times", observer, allocs)
				}
			}
			if calls == 0 {
				t.Error("nobody was told of a call")
			}
		})
	}
}
