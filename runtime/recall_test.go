package ratelimit_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// What was taken in advance of a slow limit lay here while the bucket filled by a faster one, and was then given back as well.
func TestFasterLimitAdmitsWhatWasTakenInAdvanceTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := newLimiter(t, memlimit.New())
		guard := limiter.Guard("m.Get", ratelimit.Rule{
			Key: "get", Name: "1s", Limit: ratelimit.Limit{Count: 100, Period: 100 * time.Second}, Prefetch: 100,
		})
		expect(t, "the directive", passed(t, t.Context(), guard, 1), 1)
		override(t, limiter, overrides(getID, ratelimit.Override{Count: 1000, Period: time.Second, Burst: 100}))
		time.Sleep(400 * time.Millisecond) // the bucket is full by then
		expect(t, "faster", passed(t, t.Context(), guard, 200), 100)
		if err := limiter.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		expect(t, "after Close", passed(t, t.Context(), guard, 200), 0)
	})
}

// Where nothing changes of a limit, nothing is given back.
func TestOverridesOfOneLimitGiveUnitsOfAnotherBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newCounter()
		limiter := newLimiter(t, store)
		rule := stocked(window(100, time.Hour), 10)
		get, put := limiter.Guard("m.Get", rule), limiter.Guard("m.Put", rule)
		rule.Key, rule.Name = "other", "other"
		other := limiter.Guard("m.Other", rule)
		expect(t, "Get", passed(t, t.Context(), get, 1), 1)
		expect(t, "Put, of the same bucket", passed(t, t.Context(), put, 1), 1)
		expect(t, "Other", passed(t, t.Context(), other, 1), 1)
		store.check(t, 10, 10)
		id := ratelimit.LimitID("m.Other", "other")
		for range 2 { // the second changes nothing
			override(t, limiter, overrides(id, ratelimit.Override{Count: 50}))
			time.Sleep(time.Millisecond)
			synctest.Wait()
		}
		store.check(t, -9)
		expect(t, "Other, changed", passed(t, t.Context(), other, 1), 1)
		override(t, limiter, nil)
		time.Sleep(time.Millisecond)
		store.check(t, 10, -9)
	})
}

// Two looks for what lies idle are under way when a store is slow, and the second one finds nothing.
func TestOverridesWhileIdleUnitsAreGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newCounter()
		refund := store.refund
		store.refund = func(ctx context.Context, charges []ratelimit.Charge) error {
			time.Sleep(100 * time.Millisecond)
			return refund(ctx, charges)
		}
		limiter := newLimiter(t, store)
		guard := limiter.Guard("m.Get", stocked(window(100, time.Hour), 10))
		id := ratelimit.LimitID("m.Get", "limit")
		for n := range int64(5) {
			expect(t, "a call", passed(t, t.Context(), guard, 1), 1)
			override(t, limiter, overrides(id, ratelimit.Override{Count: 50 + n}))
			time.Sleep(50 * time.Millisecond)
			expect(t, "another", passed(t, t.Context(), guard, 1), 1)
			override(t, limiter, overrides(id, ratelimit.Override{Count: 40 + n}))
			time.Sleep(3 * time.Second)
			if n := limiter.Piles(); n != 0 {
				t.Fatalf("%d piles are kept", n)
			}
		}
		if left := remaining(t, store, window(100, time.Hour)); left != 90 {
			t.Errorf("%d are left: want 90", left)
		}
	})
}
