package ratelimit_test

import (
	"context"
	"net/netip"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// allowAll is the cheapest Store there is, so that the benchmark shows what a Guard adds.
type allowAll struct{ ratelimit.Store }

func (allowAll) Take(_ context.Context, _ []ratelimit.Charge, results []ratelimit.Result) error {
	results[0].Allowed = true
	return nil
}

// BenchmarkPrefetch models a hot key whose units lie in the process: one call in a hundred goes to the store.
func BenchmarkPrefetch(b *testing.B) {
	limit := ratelimit.Limit{Count: 1_000_000_000, Period: 366 * 24 * time.Hour}
	for name, key := range map[string]string{"shared": "testGet", "ip": "testGet:{@ip}"} {
		b.Run(name, func(b *testing.B) {
			var store counted
			limiter, err := ratelimit.New(&store)
			if err != nil {
				b.Fatal(err)
			}
			ctx := ratelimit.WithClientIP(b.Context(), netip.MustParseAddr("203.0.113.7"))
			guard := limiter.Guard("m", ratelimit.Rule{Key: key, Limit: limit, Prefetch: 100})
			b.ReportAllocs()
			for b.Loop() {
				if err := guard.Allow(ctx); err != nil {
					b.Fatal(err)
				}
			}
			if trips := (b.N + 99) / 100; store.trips != trips {
				b.Errorf("%d calls went to the store %d times: want %d", b.N, store.trips, trips)
			}
		})
	}
}

// counted is a Store that admits all and counts what it is asked.
type counted struct {
	allowAll
	trips int
}

func (c *counted) Take(_ context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	c.trips++
	capacity := charges[0].Limit.Capacity()
	results[0] = ratelimit.Result{Allowed: true, Limit: capacity, Remaining: capacity - charges[0].Cost}
	return nil
}

// BenchmarkGuard models a call of a decorated method: the key of a caller is built and a store asked, one that costs next to
// nothing, and the one in memory.
func BenchmarkGuard(b *testing.B) {
	plenty := ratelimit.Limit{Count: 1000, Period: time.Hour, Burst: 500_000_000}
	ctx := ratelimit.WithClientIP(b.Context(), netip.MustParseAddr("203.0.113.7"))
	ctx = ratelimit.WithCaller(ctx, "user", "ann")
	shapes := []struct {
		name, key string
		allow     func(*ratelimit.Guard) error
	}{
		{"shared", "testGet", func(g *ratelimit.Guard) error { return g.Allow(ctx) }},
		{"ip", "testGet:{@ip}", func(g *ratelimit.Guard) error { return g.Allow(ctx) }},
		{"user", "testGet:{@user}", func(g *ratelimit.Guard) error { return g.Allow(ctx) }},
		{"template", "{tenant}:{page}", func(g *ratelimit.Guard) error { return g.Allow(ctx, ratelimit.String("acme"), ratelimit.Int(12)) }},
	}
	for _, shape := range shapes {
		for name, store := range map[string]ratelimit.Store{"none": allowAll{}, "memory": memlimit.New()} {
			b.Run(shape.name+"/store="+name, func(b *testing.B) {
				limiter, err := ratelimit.New(store)
				if err != nil {
					b.Fatal(err)
				}
				guard := limiter.Guard("m", ratelimit.Rule{Key: shape.key, Limit: plenty})
				b.ReportAllocs()
				for b.Loop() {
					if err := shape.allow(guard); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkObserved models what a call that is allowed pays for being observed, by one who only looks and by the log.
func BenchmarkObserved(b *testing.B) {
	var seen int
	look := observe(func(_ context.Context, e *ratelimit.Event) { seen += len(e.Outcomes) })
	for name, options := range map[string][]ratelimit.Option{
		"nobody": nil, "looks": {ratelimit.Observe(look)}, "log": {ratelimit.Observe(ratelimit.Log(nil))},
	} {
		b.Run(name, func(b *testing.B) {
			seen = 0
			limiter, err := ratelimit.New(allowAll{}, options...)
			if err != nil {
				b.Fatal(err)
			}
			ctx := b.Context()
			guard := limiter.Guard("m", ratelimit.Rule{Key: "testGet", Limit: ratelimit.Limit{Count: 1, Period: time.Hour}})
			b.ReportAllocs()
			for b.Loop() {
				if err := guard.Allow(ctx); err != nil {
					b.Fatal(err)
				}
			}
			if name == "looks" && seen != b.N {
				b.Errorf("told of %d calls, want %d", seen, b.N)
			}
		})
	}
}
