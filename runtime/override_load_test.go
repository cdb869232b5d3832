package ratelimit_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// While a limit is changed to and fro, no more is admitted than the higher of the two allows, whatever has been taken in
// advance, and all of that is once it stays.
func TestOverridesUnderLoad(t *testing.T) {
	const low, high, callers, calls = 300, 1000, 8, 1000
	year := 366 * 24 * time.Hour
	for name, rule := range map[string]ratelimit.Rule{
		"sliding log":            {Limit: ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: low, Period: year}},
		"fixed window":           {Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: low, Period: year}},
		"fixed window, prefetch": {Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: low, Period: year}, Prefetch: 10},
		"token bucket, prefetch": {Limit: ratelimit.Limit{Count: low, Period: year}, Prefetch: 10},
	} {
		t.Run(name, func(t *testing.T) {
			limiter := newLimiter(t, memlimit.New())
			rule.Key, rule.Name = "get", "1s"
			guard, ctx := limiter.Guard("m.Get", rule), t.Context()
			count := ratelimit.Override{Count: high}
			ann := ratelimit.CallerOverride{By: map[string]string{"user": "ann"}, Count: high}
			if rule.Limit.Algorithm == ratelimit.TokenBucket {
				ann.Count, ann.Burst = 0, high
			}
			forAnn := ratelimit.Override{Callers: []ratelimit.CallerOverride{ann}}
			off := &ratelimit.Overrides{}
			changes := []*ratelimit.Overrides{overrides(getID, count), off, overrides(getID, forAnn), nil}

			var passed atomic.Int64
			done := make(chan struct{})
			var wg sync.WaitGroup
			for i := range callers {
				ctx := ctx
				if i%2 == 0 {
					ctx = ratelimit.WithCaller(ctx, "user", "ann")
				}
				wg.Go(func() {
					for range calls {
						if guard.Allow(ctx) == nil {
							passed.Add(1)
						}
					}
				})
			}
			go func() {
				defer close(done)
				wg.Wait()
			}()
			for i := 0; ; i++ {
				override(t, limiter, changes[i%len(changes)])
				select {
				case <-done:
				default:
					continue
				}
				break
			}
			if n := passed.Load(); n < low || n > high {
				t.Errorf("%d calls were admitted, want %d to %d", n, low, high)
			}

			// What lies in the process for another limit is given back.
			if err := limiter.Close(ctx); err != nil {
				t.Fatal(err)
			}
			override(t, limiter, overrides(getID, count))
			for guard.Allow(ctx) == nil {
				passed.Add(1)
			}
			if n := passed.Load(); n != high {
				t.Errorf("%d calls were admitted in the end, want %d", n, high)
			}
		})
	}
}

// A slot is one whatever became of the limit while it was held.
func TestOverridesUnderLoadOfSlots(t *testing.T) {
	const low, high, callers, calls = 2, 5, 8, 300
	limiter := newLimiter(t, memlimit.New())
	guard := limiter.Guard("m.Get", ratelimit.Rule{
		Key: "get", Name: "1s", Limit: ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: low, Period: time.Hour},
	})
	var now, most atomic.Int64
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range calls {
				call, err := guard.Begin(t.Context())
				if err != nil {
					continue
				}
				n := now.Add(1)
				for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
				}
				now.Add(-1)
				call.End()
			}
		})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		wg.Wait()
	}()
	for i := 0; ; i++ {
		var o *ratelimit.Overrides
		if i%2 == 0 {
			o = countOf(high)
		}
		override(t, limiter, o)
		select {
		case <-done:
		default:
			continue
		}
		break
	}
	if n := most.Load(); n > high {
		t.Errorf("%d calls held slots at once, want at most %d", n, high)
	}
	override(t, limiter, countOf(high))
	for range high {
		if _, err := guard.Begin(t.Context()); err != nil {
			t.Fatalf("a slot was not given back: %v", err)
		}
	}
}
