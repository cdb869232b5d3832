package ratelimit_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// overriddenBy returns overrides of the limit getID by the ways in which a caller is found. Ann of acme, at 203.0.113.7, is one
// of a thousand premium users.
func overriddenBy(count int64) map[string]*ratelimit.Overrides {
	caller := func(by map[string]string) ratelimit.CallerOverride {
		return ratelimit.CallerOverride{By: by, Count: count}
	}
	var users, addrs []ratelimit.CallerOverride
	for i := range 999 {
		users = append(users, caller(map[string]string{"user": fmt.Sprintf("user%d", i)}))
		addrs = append(addrs, caller(map[string]string{"ip": fmt.Sprintf("10.0.%d.%d", i/256, i%256)}))
	}
	users = append(users, caller(map[string]string{"user": "ann"}))
	addrs = append(addrs, caller(map[string]string{"ip": "203.0.113.0/24"}))
	return map[string]*ratelimit.Overrides{
		"nothing":         nil,
		"another limit":   overrides("m.Put#1s", ratelimit.Override{Count: count}),
		"everybody":       overrides(getID, ratelimit.Override{Count: count}),
		"a user":          overrides(getID, ratelimit.Override{Callers: users}),
		"a user's tenant": overrides(getID, ratelimit.Override{Callers: []ratelimit.CallerOverride{caller(map[string]string{"user": "ann", "tenant": "acme"})}}),
		"an address":      overrides(getID, ratelimit.Override{Callers: addrs}),
		"a function":      nil,
	}
}

// BenchmarkOverrides models a call of a decorated method whose limit is overridden in each of the ways, beside one whose is not.
// The store costs next to nothing.
func BenchmarkOverrides(b *testing.B) {
	ctx := ratelimit.WithClientIP(b.Context(), netip.MustParseAddr("203.0.113.7"))
	ctx = ratelimit.WithCaller(ratelimit.WithCaller(ctx, "user", "ann"), "tenant", "acme")
	const count = 1000
	for name, o := range overriddenBy(count) {
		b.Run(name, func(b *testing.B) {
			var options []ratelimit.Option
			if name == "a function" {
				options = append(options, ratelimit.OverrideBy(func(ctx context.Context, _ string) (ratelimit.Override, bool) {
					_, ok := ratelimit.ClientIP(ctx)
					return ratelimit.Override{Count: count}, ok
				}))
			}
			limiter, err := ratelimit.New(allowAll{}, options...)
			if err != nil {
				b.Fatal(err)
			}
			guard := limiter.Guard("m.Get", ratelimit.Rule{
				Key: "get:{@user}", Name: "1s", Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1, Period: time.Hour},
			})
			if err := limiter.Override(o); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := guard.Allow(ctx); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
