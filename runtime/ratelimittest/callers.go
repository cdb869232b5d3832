package ratelimittest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// S18, S19
func manyCallers(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	const callers, each = 32, 20
	limits := []ratelimit.Limit{
		tokens(100, time.Hour), interval(100, time.Hour, 100), window(100, time.Hour), record(100, time.Hour), slide(100, time.Hour),
		leak(100, time.Hour, 0), slots(100, time.Hour),
	}
	for _, limit := range limits {
		own := charge(fmt.Sprintf("%v %v", limit.Algorithm, limit.Refill), limit, 1)
		shared := charge("shared", window(1_000_000, time.Hour), 1)
		var admitted atomic.Int64
		var wg sync.WaitGroup
		for caller := range callers {
			wg.Go(func() {
				charges, results := []ratelimit.Charge{shared, own}, make([]ratelimit.Result, 2)
				for i := range each {
					charges[0].Holder = fmt.Sprintf("%d:%d", caller, i)
					charges[1].Holder = charges[0].Holder
					charges[0], charges[1] = charges[1], charges[0] // in any order
					if err := store.Take(t.Context(), charges, results); err != nil {
						t.Errorf("call %d: %v", i, err)
						return
					}
					if results[0].Allowed && results[1].Allowed {
						admitted.Add(1)
					}
				}
			})
		}
		wg.Wait()
		if n := admitted.Load(); n != 100 {
			t.Errorf("%v: %d calls of %d were admitted: want 100", limit, n, callers*each)
		}
	}
	expect(t, store, "peek", charge("shared", window(1_000_000, time.Hour), 1),
		ratelimit.Result{Allowed: true, Limit: 1_000_000, Remaining: 1_000_000 - 100*int64(len(limits)), ResetAfter: time.Hour})
}

// R42 (a)
func manyWaiting(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	for _, limit := range []ratelimit.Limit{burst(5, s, 1), leak(5, s, 1)} {
		c := charge("turns", limit, 1)
		c.Wait = s
		var mu sync.Mutex
		var delays []time.Duration
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				result, err := call(t, store, "take", c)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				if result.Allowed {
					delays = append(delays, result.Delay)
				}
			})
		}
		wg.Wait()
		slices.Sort(delays)
		if want := []time.Duration{0, 200 * ms, 400 * ms, 600 * ms, 800 * ms, s}; !slices.Equal(delays, want) {
			t.Errorf("%v: delays %v: want %v", limit.Algorithm, delays, want)
		}
	}
}

// C13
func manyReleases(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	c := charge("slots", slots(3, time.Minute), 1)
	expect(t, store, "take", c, ratelimit.Result{Allowed: true, Limit: 3, Remaining: 2, ResetAfter: time.Minute})
	var released atomic.Int64
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			switch _, err := call(t, store, "refund", c); {
			case err == nil:
				released.Add(1)
			case !errors.Is(err, ratelimit.ErrLeaseLost):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := released.Load(); n != 1 {
		t.Errorf("%d releases of one lease: want 1", n)
	}
	expect(t, store, "peek", c, ratelimit.Result{Allowed: true, Limit: 3, Remaining: 3})
}

// R21
func resetRace(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	limits := []ratelimit.Limit{
		tokens(5, time.Minute), window(5, time.Minute), record(5, time.Minute), slide(5, time.Minute), leak(5, time.Minute, 0),
		slots(5, time.Minute),
	}
	for _, limit := range limits {
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				do, c := "take", charge("race", limit, 1)
				c.Holder = fmt.Sprint(i)
				if i == 25 {
					do = "reset"
				}
				if result, err := call(t, store, do, c); err != nil || result.Remaining < 0 || result.Remaining > 5 {
					t.Errorf("%v, %s: %s, error %v", limit.Algorithm, do, show(result), err)
				}
			})
		}
		wg.Wait()
	}
}
