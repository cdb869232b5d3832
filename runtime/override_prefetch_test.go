package ratelimit_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

func TestRaisedLimitLacksWhatWasTakenInAdvanceByTheOldOne(t *testing.T) {
	for _, algorithm := range []ratelimit.Algorithm{ratelimit.TokenBucket, ratelimit.LeakyBucket, ratelimit.FixedWindow} {
		t.Run(algorithm.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limiter := newLimiter(t, memlimit.New())
				guard, ctx := limiter.Guard("m.Get", ratelimit.Rule{
					Key: "get", Name: "1s", Limit: ratelimit.Limit{Algorithm: algorithm, Count: 100, Period: time.Hour}, Prefetch: 100,
				}), t.Context()
				expect(t, "the directive", passed(t, ctx, guard, 1), 1)
				override(t, limiter, overrides(getID, ratelimit.Override{Count: 110}))
				want := 109
				if algorithm == ratelimit.LeakyBucket {
					want = 108 // its state is a time: one of 100 an hour is more than one of 110
				}
				expect(t, "raised", passed(t, ctx, guard, 200), want)
			})
		})
	}
}

func TestCallersOfTwoLimitsShareABucketThatIsTakenOfInAdvance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := newLimiter(t, memlimit.New())
		guard := limiter.Guard("m.Get", ratelimit.Rule{
			Key: "get", Name: "1s", Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 100, Period: time.Hour}, Prefetch: 50,
		})
		override(t, limiter, overrides(getID, ratelimit.Override{Callers: []ratelimit.CallerOverride{{By: map[string]string{"user": "ann"}, Count: 120}}}))
		ann := ratelimit.WithCaller(t.Context(), "user", "ann")
		expect(t, "another", passed(t, t.Context(), guard, 1), 1)
		expect(t, "ann, though units of another lie here", passed(t, ann, guard, 200), 119)
		expect(t, "another, once all is used", passed(t, t.Context(), guard, 10), 0)
		time.Sleep(time.Hour)
		expect(t, "ann, in the next window", passed(t, ann, guard, 1), 1)
		expect(t, "another, though units of ann lie here", passed(t, t.Context(), guard, 200), 99)
		expect(t, "ann, of what she has beyond others", passed(t, ann, guard, 200), 20)
	})
}

func TestRefusedCallersKeepOthersFromTakingInAdvance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newCounter()
		limiter := newLimiter(t, store)
		guard := limiter.Guard("m.Get", ratelimit.Rule{
			Key: "get", Name: "1s", Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 10, Period: time.Hour}, Prefetch: 10,
		})
		override(t, limiter, overrides(getID, ratelimit.Override{Callers: []ratelimit.CallerOverride{{By: map[string]string{"user": "ann"}, Count: 1000}}}))
		ann := ratelimit.WithCaller(t.Context(), "user", "ann")
		expect(t, "ann", passed(t, ann, guard, 10), 10)
		store.check(t, 10)
		expect(t, "another, once all is used", passed(t, t.Context(), guard, 1), 0)
		store.check(t, 1)
		expect(t, "ann", passed(t, ann, guard, 101), 101)
		store.check(t, append([]int64{1}, slices.Repeat([]int64{10}, 10)...)...)
		for range 3 { // in turn, neither takes in advance, nor has to be given back what the other took
			expect(t, "another", passed(t, t.Context(), guard, 1), 0)
			expect(t, "ann", passed(t, ann, guard, 1), 1)
		}
		store.check(t, 1, 1, 1, 1, 1, 1)
	})
}
