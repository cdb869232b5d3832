package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/ratelimitgen/ratelimitgen/internal/bench/limiters"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// Every row does its work, and measures what its goals are about. The figures of so short a time mean nothing.
func TestRows(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped, starts some seventy servers one after the other")
	}
	for _, r := range allRows(1000) {
		t.Run(r.id, func(t *testing.T) {
			var page report
			page.add(t, r, r.measure(t.Context(), t, 1, 10*time.Millisecond))
			if len(page.goals) != len(r.goals) || len(page.sections) != 1 {
				t.Errorf("%d goals and %d tables: want %d and one", len(page.goals), len(page.sections), len(r.goals))
			}
		})
	}
}

// BenchmarkMemory models decisions in memory whose key is at hand: one that is hot, or 100,000 in a scattered order.
func BenchmarkMemory(b *testing.B) {
	for _, algorithm := range []ratelimit.Algorithm{ratelimit.TokenBucket, ratelimit.FixedWindow, ratelimit.LeakyBucket} {
		for _, keys := range []int{1, 100_000} {
			b.Run(fmt.Sprintf("%v/keys=%d", algorithm, keys), func(b *testing.B) {
				benchmark(b, limiters.Memory(algorithm), load{callers: 1, keys: keys, quota: limiters.Plenty}, nil)
			})
		}
	}
}

// BenchmarkDecorator models calls of generated decorators in front of methods that do nothing.
func BenchmarkDecorator(b *testing.B) {
	makers := map[string]limiters.Maker{
		"ip": limiters.DecoratorPerIP, "shared": limiters.DecoratorShared, "template": limiters.DecoratorTemplate, "free": limiters.DecoratorFree,
	}
	for name, newLimiter := range makers {
		b.Run(name, func(b *testing.B) {
			benchmark(b, newLimiter, load{callers: 1, keys: 1, quota: limiters.Plenty}, nil)
		})
	}
}

// BenchmarkRedis models decisions of one process through a server on loopback: for 10,000 keys, or for one that is hot.
func BenchmarkRedis(b *testing.B) {
	for _, l := range []load{manyKeys(1, 10_000), manyKeys(128, 10_000), {callers: 128, keys: 1, quota: limiters.Plenty}} {
		b.Run(fmt.Sprintf("callers=%d/keys=%d", l.callers, l.keys), func(b *testing.B) {
			benchmark(b, limiters.Redis(ratelimit.TokenBucket), l, oneServer(b))
		})
	}
}

func benchmark(b *testing.B, newLimiter limiters.Maker, l load, addrs []string) {
	ctx := b.Context()
	s := l.start(ctx, b, newLimiter, addrs)
	more := func(int, int) bool { return b.Loop() }
	if l.callers > 1 { // each of which has its part of b.N
		more = func(caller, calls int) bool { return calls < part(b.N, caller, l.callers) }
	}
	b.ReportAllocs()
	b.ResetTimer()
	got := s.call(ctx, more)
	b.StopTimer()
	if err := s.check(ctx, got); err != nil {
		b.Fatal(err)
	}
	if got.calls != int64(b.N) {
		b.Fatalf("%d calls: want %d", got.calls, b.N)
	}
}
