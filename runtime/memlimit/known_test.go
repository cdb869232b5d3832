package memlimit

import (
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// More limits than there are places for are told apart all the same, and those that find none allocate nothing either.
func TestManyLimitsAreToldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 3 << knownBits
		store := New()
		results := make([]ratelimit.Result, 1)
		known := 0
		for i := range int64(n) {
			charges := one("key", ratelimit.Limit{Count: 1 + i%2, Period: time.Duration(1+i/2) * time.Second}, 1)
			charges[0].Name = string(rune('a' + i))
			for call := range int64(3) {
				r := take(t, store, charges)
				if r.Allowed != (call < charges[0].Limit.Count) || r.Limit != charges[0].Limit.Count {
					t.Fatalf("call %d of %+v: %+v", call, charges[0].Limit, r)
				}
			}
			if store.known.find(&charges[0].Limit) != nil {
				known++
			}
			if i%500 == 0 && testing.AllocsPerRun(10, func() { _ = store.Take(t.Context(), charges, results) }) != 0 {
				t.Errorf("a call of limit %d allocates", i)
			}
		}
		if places := len(store.known); known > places || known < places*9/10 {
			t.Errorf("%d limits are known: want nearly %d", known, places)
		}
	})
}

// An invalid limit is refused however much it is like one that is known, and whatever it is for.
func TestInvalidChargeIsAnErrorThoughItsLimitIsKnown(t *testing.T) {
	store := New()
	take(t, store, one("key", perSecond, 1))
	for _, change := range []func(*ratelimit.Charge){
		func(c *ratelimit.Charge) { c.Limit.Burst = 7 },
		func(c *ratelimit.Charge) { c.Limit.Refill = ratelimit.Interval },
		func(c *ratelimit.Charge) { c.Limit.Period++ },
		func(c *ratelimit.Charge) { c.Limit.Count = 0 },
		func(c *ratelimit.Charge) { c.Limit.Algorithm = 99 },
		func(c *ratelimit.Charge) { c.Cost = -1 },
		func(c *ratelimit.Charge) { c.Wait = time.Second },
		func(c *ratelimit.Charge) { c.Delay = time.Second },
		func(c *ratelimit.Charge) { c.Taken = -1 },
		func(c *ratelimit.Charge) { c.Holder = "a b" },
	} {
		charges, results := one("key", perSecond, 1), make([]ratelimit.Result, 1)
		change(&charges[0])
		want := ratelimit.CheckDecision(charges, results)
		for range 2 {
			if err := store.Take(t.Context(), charges, results); err == nil || want == nil || err.Error() != want.Error() {
				t.Errorf("%+v: error %v: want %v", charges[0], err, want)
			}
		}
	}
}
