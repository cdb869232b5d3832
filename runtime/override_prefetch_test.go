package ratelimit_test

import (
	"context"
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

// What lies here by another limit is given back while the call waits, so that this must take no longer than a decision.
func TestCallWaitsForUnitsOfAnotherLimitThatAreNotTakenBack(t *testing.T) {
	for _, tt := range []struct {
		name    string
		latency time.Duration // of a decision
		hangs   bool          // whatever its context says
		want    time.Duration
	}{
		{"one that ends with its context", 0, false, 100 * time.Millisecond},
		{"one that does not", 0, true, 110 * time.Millisecond},
		{"one that is far away", 150 * time.Millisecond, false, 450 * time.Millisecond}, // it refuses first
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newCounter()
				take := store.take
				store.take = func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
					time.Sleep(tt.latency)
					return take(ctx, charges, results)
				}
				store.refund = func(ctx context.Context, _ []ratelimit.Charge) error {
					if tt.hangs {
						time.Sleep(time.Hour)
					}
					<-ctx.Done()
					return ctx.Err()
				}
				var told errorsOf
				limiter := newLimiter(t, store, told.option())
				guard := limiter.Guard("m.Get", ratelimit.Rule{
					Key: "get", Name: "1s", Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 20, Period: time.Hour}, Prefetch: 20,
				})
				override(t, limiter, overrides(getID, ratelimit.Override{Callers: []ratelimit.CallerOverride{{By: map[string]string{"user": "ann"}, Count: 10}}}))
				expect(t, "another", passed(t, t.Context(), guard, 1), 1)
				began, closed := time.Now(), make(chan error, 1)
				time.AfterFunc(tt.want-50*time.Millisecond, func() {
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
					defer cancel()
					closed <- limiter.Close(ctx)
				})
				expect(t, "ann", passed(t, ratelimit.WithCaller(t.Context(), "user", "ann"), guard, 1), 0)
				if took := time.Since(began); took != tt.want {
					t.Errorf("the call took %v: want %v", took, tt.want)
				}
				told.check(t, ": ratelimit: unused units not given back: 19, of 1 buckets: context deadline exceeded")
				checkError(t, <-closed, "ratelimit: unused units not given back: 19, of 1 buckets: calls are still on their way: context deadline exceeded")
				time.Sleep(time.Hour) // what hangs ends
			})
		})
	}
}
