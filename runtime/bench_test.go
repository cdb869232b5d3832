package ratelimit_test

import (
	"context"
	"net/netip"
	"testing"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// allowAll is the cheapest Store there is, so that the benchmark shows what a Guard adds.
type allowAll struct{ ratelimit.Store }

func (allowAll) Take(_ context.Context, _ []ratelimit.Charge, results []ratelimit.Result) error {
	results[0].Allowed = true
	return nil
}

// BenchmarkGuard models a call of a decorated method: the key of a caller is built and a store asked.
func BenchmarkGuard(b *testing.B) {
	limiter, err := ratelimit.New(allowAll{})
	if err != nil {
		b.Fatal(err)
	}
	ctx := ratelimit.WithClientIP(b.Context(), netip.MustParseAddr("203.0.113.7"))
	ctx = ratelimit.WithCaller(ctx, "user", "ann")
	for name, key := range map[string]string{"shared": "testGet", "ip": "testGet:{@ip}", "user": "testGet:{@user}"} {
		b.Run(name, func(b *testing.B) {
			guard := limiter.Guard("m", ratelimit.Rule{Key: key, Limit: fivePerSecond})
			b.ReportAllocs()
			for b.Loop() {
				if err := guard.Allow(ctx); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
