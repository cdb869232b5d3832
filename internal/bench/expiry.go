package main

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/ratelimitgen/ratelimitgen/internal/bench/limiters"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

const pause = 4 * time.Microsecond

// expiryRow has no goal: the longest of a million times is mostly what the machine makes of it, and the clock beside says how
// much that is.
func expiryRow(million int) row {
	return row{
		id: "memory-expiry", rounds: 1,
		models: `a call every 4 µs while a million keys expire, and after each the clock alone, read for as long as a call usually
takes. Both are in the same goroutine, so that what delays both is the machine, and what delays calls alone is the limiter. Who
removes all keys at once and lets nobody pass meanwhile has one call that is as long as a million removals; calls that remove
some each have a p99.99 that says how long these take. The figures are those of the calmest of three times: what the limiter
does comes each time, what the machine does now and then`,
		entries: []entry{
			whileExpiring(oursInMemory, limiters.Memory(ratelimit.TokenBucket), million),
			whileExpiring(goLimiter, limiters.GoLimiter, million),
		},
	}
}

// whileExpiring returns an entry of how long a call takes while all keys expire and leave.
func whileExpiring(name string, newLimiter limiters.Maker, n int) entry {
	const period = time.Second
	watched := int((period + time.Duration(n)*3*time.Microsecond) / pause)
	return entry{name, 1, func(_ context.Context, t testing.TB) round {
		keys := limiters.NewKeys(n)
		return func(ctx context.Context, _ turn) (sample, error) {
			var calmest sample
			for range 3 {
				s, err := expire(ctx, newLimiter(t, limiters.Setting{Keys: keys, Quota: limiters.Fleeting(period)}), n, watched)
				if err != nil {
					return nil, err
				}
				if calmest == nil || s[longest] < calmest[longest] {
					calmest = s
				}
			}
			return calmest, nil
		}
	}}
}

// expire fills a limiter with n keys, and returns how long calls take while these expire.
func expire(ctx context.Context, limiter limiters.Limiter, n, watched int) (sample, error) {
	if err := askEach(ctx, limiter, n); err != nil {
		return nil, err
	}
	runtime.GC()
	calls, clock, err := beside(ctx, limiter.Worker(), watched)
	if err != nil {
		return nil, err
	}
	if h, ok := limiter.(limiters.Holder); ok && h.Held() > n/10 {
		return nil, fmt.Errorf("%d buckets are left: want a tenth at most", h.Held())
	}
	return sample{
		p50: micros(calls.quantile(0.5)), p99: micros(calls.quantile(0.99)),
		p9999: micros(calls.quantile(0.9999)), longest: micros(calls.quantile(1)),
		clockP9999: micros(clock.quantile(0.9999)), clockLongest: micros(clock.quantile(1)),
	}, nil
}

// beside returns how long n calls take, and how long the clock in turns with them.
func beside(ctx context.Context, ask limiters.Ask, n int) (calls, clock histogram, err error) {
	const first = 10_000 // of which the mean is what a call usually takes
	start := time.Now()
	for range first {
		if _, err := ask(ctx, 0); err != nil {
			return calls, clock, err
		}
	}
	usual := time.Since(start) / first
	due := time.Now()
	for range n {
		for time.Now().Before(due) {
			continue
		}
		before := time.Now()
		if _, err := ask(ctx, 0); err != nil {
			return calls, clock, err
		}
		calls.add(time.Since(before))
		before = time.Now()
		for time.Since(before) < usual {
			continue
		}
		clock.add(time.Since(before))
		due = due.Add(max(pause, time.Since(due))) // those that it is too late for are left out
	}
	return calls, clock, nil
}
