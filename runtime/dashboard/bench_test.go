package dashboard_test

import (
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/dashboard"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// BenchmarkCall is a call of one limit in memory, with nobody told and with a Dashboard told: the difference is what that costs.
func BenchmarkCall(b *testing.B) {
	for _, bench := range []struct {
		name    string
		count   int64
		allowed bool
	}{
		{"allowed", 1e9, true},
		{"refused", 1, false},
	} {
		limit := ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: bench.count, Period: time.Hour}
		run := func(b *testing.B, observers ...ratelimit.Observer) {
			limiter, err := ratelimit.New(memlimit.New(), ratelimit.Observe(observers...))
			if err != nil {
				b.Fatal(err)
			}
			guard := limiter.Guard("shop.Shop.Buy", ratelimit.Rule{Key: "buy", Limit: limit})
			_ = guard.Allow(b.Context())
			b.ReportAllocs()
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					if err := guard.Allow(b.Context()); (err == nil) != bench.allowed {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(bench.name+"/nobody", func(b *testing.B) { run(b) })
		b.Run(bench.name+"/dashboard", func(b *testing.B) {
			board := dashboard.New()
			defer board.Close()
			run(b, board)
		})
	}
}

// BenchmarkObserve is what the Dashboard itself does about a call that goes on.
func BenchmarkObserve(b *testing.B) {
	board := dashboard.New()
	defer board.Close()
	ctx, e := b.Context(), allowedCall()
	b.ReportAllocs()
	for b.Loop() {
		board.Observe(ctx, e)
	}
}
