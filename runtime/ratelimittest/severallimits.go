package ratelimittest

import (
	"fmt"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// R45 (c), R46 (a) to (c): two limits of one key count for themselves, and together.
func severalPeriods(t *testing.T, store ratelimit.Store, advance func(time.Duration)) {
	type rate struct {
		count  int64
		period time.Duration
	}
	type call struct {
		pause     time.Duration
		allowed   bool
		remaining [2]int64
	}
	tests := []struct {
		report string
		limits [2]rate
		calls  []call
	}{
		{"R45 (c)", [2]rate{{2, 60 * s}, {1, s}}, []call{ // what the second refuses is not taken of the first
			{0, true, [2]int64{1, 0}}, {0, false, [2]int64{1, 0}}, {s, true, [2]int64{0, 0}},
		}},
		{"R46 (a)", [2]rate{{3, 60 * s}, {30, 24 * h}}, []call{
			{0, true, [2]int64{2, 29}}, {0, true, [2]int64{1, 28}}, {0, true, [2]int64{0, 27}}, {0, false, [2]int64{0, 27}},
		}},
		{"R46 (b)", [2]rate{{1, s}, {30, 60 * s}}, []call{{0, true, [2]int64{0, 29}}}},
		{"R46 (c)", [2]rate{{5, 60 * s}, {50, 24 * h}}, []call{
			{0, true, [2]int64{4, 49}}, {0, true, [2]int64{3, 48}}, {0, true, [2]int64{2, 47}}, {0, true, [2]int64{1, 46}},
			{0, true, [2]int64{0, 45}}, {0, false, [2]int64{0, 45}},
		}},
	}
	// A sliding window would still count a part of the call of a second ago.
	for _, algorithm := range []ratelimit.Algorithm{ratelimit.TokenBucket, ratelimit.FixedWindow, ratelimit.SlidingLog, ratelimit.LeakyBucket} {
		for _, test := range tests {
			charges, results := make([]ratelimit.Charge, 2), make([]ratelimit.Result, 2)
			for i, r := range test.limits {
				charges[i] = charge(test.report, ratelimit.Limit{Algorithm: algorithm, Count: r.count, Period: r.period}, 1)
				charges[i].Name = fmt.Sprint(r.period)
			}
			for i, c := range test.calls {
				advance(c.pause)
				if err := store.Take(t.Context(), charges, results); err != nil {
					t.Fatal(err)
				}
				remaining := [2]int64{results[0].Remaining, results[1].Remaining}
				if allowed := results[0].Allowed && results[1].Allowed; allowed != c.allowed || remaining != c.remaining {
					t.Errorf("%s, %v, call %d: allowed is %v, %d remain: want %v, %d",
						test.report, algorithm, i, allowed, remaining, c.allowed, c.remaining)
				}
			}
		}
	}
}
