package ratelimittest

import (
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// D06: three limits become one, and three again. Each counts from its own state.
func otherNumber(t *testing.T, store ratelimit.Store, advance func(time.Duration)) {
	named := func(name string, limit ratelimit.Limit) ratelimit.Charge {
		return ratelimit.Charge{Key: []byte("user:1"), Name: name, Limit: limit, Cost: 1}
	}
	three := []ratelimit.Charge{
		named("second", window(10, s)), named("minute", window(500, time.Minute)), named("hour", window(10_000, h)),
	}
	one := []ratelimit.Charge{named("day", window(300, 24*h))}
	take := func(charges []ratelimit.Charge, want ...int64) {
		t.Helper()
		results := make([]ratelimit.Result, len(charges))
		if err := store.Take(t.Context(), charges, results); err != nil {
			t.Fatal(err)
		}
		for i, r := range results {
			if !r.Allowed || r.Remaining != want[i] {
				t.Fatalf("limit %s: %s: want %d remaining", charges[i].Name, show(r), want[i])
			}
		}
	}
	take(three, 9, 499, 9999)
	take(three, 8, 498, 9998)
	take(one, 299)
	take(one, 298)
	take(three, 7, 497, 9997)
	advance(2 * s)
	take(one, 297)
	take(three, 9, 496, 9996)
	advance(2 * h)
	take(one, 296)
	take(three, 9, 499, 9999)
}

// D06: under one key and name each algorithm counts for itself: another one meets no state that it cannot read, and finds its
// own again.
func otherAlgorithm(t *testing.T, store ratelimit.Store, advance func(time.Duration)) {
	limits := []ratelimit.Limit{
		tokens(5, h), window(5, h), record(5, h), slide(5, h), leak(5, h, 0), slots(5, h),
	}
	for round := range int64(3) {
		for _, limit := range limits {
			if result, err := call(t, store, "take", charge("changed", limit, 1)); limit.Algorithm == ratelimit.Concurrency {
				// The one holder has its slot already.
				if err != nil || !result.Allowed || result.Remaining != 4 {
					t.Fatalf("round %d, %v: %s, error %v: want 4 remaining", round, limit.Algorithm, show(result), err)
				}
			} else if err != nil || !result.Allowed || result.Remaining != 4-round {
				t.Fatalf("round %d, %v: %s, error %v: want %d remaining", round, limit.Algorithm, show(result), err, 4-round)
			}
		}
	}
	advance(3 * h)
	for _, limit := range limits {
		expect(t, store, "peek", charge("changed", limit, 1), ratelimit.Result{Allowed: true, Limit: 5, Remaining: 5})
	}
}
