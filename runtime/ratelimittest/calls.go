package ratelimittest

import (
	"errors"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// calls are the tests that are not about the arithmetic of one bucket.
var calls = []struct {
	name string
	run  Test
}{
	{"several limits are charged all or not at all", allOrNothing},
	{"limits of different periods", severalPeriods},
	{"limits of all kinds are charged all or not at all", mixedLimits},
	{"a call waits for its turn at all limits, or at none", waitingTogether},
	{"a bucket that refuses leaves the charge of the others untaken", sharedBucket},
	{"key, name and algorithm each make another bucket", ownBuckets},
	{"another number of limits", otherNumber},
	{"another algorithm", otherAlgorithm},
	{"keys are any bytes", anyKey},
	{"a key is neither changed nor kept", keyOfCaller},
	{"a charge of cost 0 looks and takes nothing", freeCharge},
	{"reset makes as new", resets},
	{"refund of several charges", refundAll},
	{"a lease that is lost keeps no other charge from being given back", refundWithLost},
	{"renewals are independent of each other", renewAll},
	{"no charges at all", noCharges},
	{"invalid charges are errors", invalidCharges},
	{"invalid renewals are errors", invalidRenewals},
	{"a context that has ended is an error", endedContext},
	{"admits what it should however many call", manyCallers},
	{"each of many that wait has a turn of its own", manyWaiting},
	{"a lease is released once however many release it", manyReleases},
	{"saturated, a bucket admits burst and rate", saturation},
	{"no span of a period admits more than the algorithm says", spans},
	{"resets and takes at the same time", resetRace},
}

// U05
func freeCharge(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	limits := []ratelimit.Limit{
		tokens(1, time.Hour), window(1, time.Hour), record(1, time.Hour), leak(1, time.Hour, 0), slots(1, time.Hour),
	}
	for _, limit := range limits {
		free, one := charge("free", limit, 0), charge("free", limit, 1)
		expect(t, store, "take", free, ratelimit.Result{Allowed: true, Limit: 1, Remaining: 1})
		expect(t, store, "take", one, ratelimit.Result{Allowed: true, Limit: 1, ResetAfter: time.Hour})
		expect(t, store, "take", free, ratelimit.Result{Allowed: true, Limit: 1, ResetAfter: time.Hour})
		expect(t, store, "refund", free, ratelimit.Result{})
		expect(t, store, "peek", free, ratelimit.Result{Allowed: true, Limit: 1, ResetAfter: time.Hour})
		free.Holder = ""
		expect(t, store, "take", free, ratelimit.Result{Allowed: true, Limit: 1, ResetAfter: time.Hour})
		expect(t, store, "refund", free, ratelimit.Result{})
	}
}

// R21
func resets(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	limits := []ratelimit.Limit{
		tokens(5, time.Minute), window(5, time.Minute), record(5, time.Minute), slide(5, time.Minute), leak(5, time.Minute, 0),
		slots(5, time.Minute),
	}
	charges := []ratelimit.Charge{charge("never used", window(5, time.Minute), 5)}
	for _, limit := range limits {
		c := charge("reset", limit, 5)
		if result, err := call(t, store, "take", c); err != nil || !result.Allowed || result.Remaining != 0 {
			t.Fatalf("%v: %s, error %v", limit.Algorithm, show(result), err)
		}
		charges = append(charges, c)
	}
	if err := store.Reset(t.Context(), charges); err != nil {
		t.Fatal(err)
	}
	for _, c := range charges {
		c.Cost = 1
		expect(t, store, "peek", c, ratelimit.Result{Allowed: true, Limit: 5, Remaining: 5})
		if result, err := call(t, store, "take", c); err != nil || !result.Allowed || result.Remaining != 4 {
			t.Errorf("%v: %s, error %v: want the first of five", c.Limit.Algorithm, show(result), err)
		}
	}
}

func refundAll(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	taken := []ratelimit.Charge{
		minute(5), longer(5), charge("log", record(5, time.Minute), 5), charge("slots", slots(5, time.Minute), 5),
	}
	given := []ratelimit.Charge{minute(2), longer(3), taken[2], taken[3], charge("never used", window(5, time.Minute), 4)}
	given[2].Cost, given[3].Cost = 4, 1
	results := make([]ratelimit.Result, 5)
	if err := store.Take(t.Context(), taken, results[:4]); err != nil {
		t.Fatal(err)
	}
	if err := store.Refund(t.Context(), given); err != nil {
		t.Fatal(err)
	}
	if err := store.Peek(t.Context(), given, results); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{7, 28, 4, 1, 5} {
		if results[i].Remaining != want {
			t.Errorf("charge %d: %d remain after the refund: want %d", i, results[i].Remaining, want)
		}
	}
}

// C03
func refundWithLost(t *testing.T, store ratelimit.Store, advance func(time.Duration)) {
	first, second := charge("slots", slots(1, time.Second), 1), charge("other slots", slots(1, time.Minute), 1)
	charges, results := []ratelimit.Charge{minute(3), first, second, longer(3)}, make([]ratelimit.Result, 4)
	if err := store.Take(t.Context(), charges, results); err != nil {
		t.Fatal(err)
	}
	advance(time.Second)
	if err := store.Refund(t.Context(), charges); !errors.Is(err, ratelimit.ErrLeaseLost) {
		t.Fatalf("error %v: want that the lease is lost", err)
	}
	if err := store.Peek(t.Context(), charges, results); err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if r.Remaining != r.Limit {
			t.Errorf("charge %d: %s: want that it was given back", i, show(r))
		}
	}
}

// C10
func renewAll(t *testing.T, store ratelimit.Store, advance func(time.Duration)) {
	limit := slots(3, 10*s)
	var charges []ratelimit.Charge
	for _, holder := range []string{"A", "B", "C", "stranger"} {
		c := charge("slots", limit, 1)
		c.Holder = holder
		charges = append(charges, c)
	}
	other := charge("other slots", slots(2, time.Minute), 2)
	for i, c := range charges[:3] {
		expect(t, store, "take", c, ratelimit.Result{Allowed: true, Limit: 3, Remaining: int64(2 - i), ResetAfter: 10 * s})
	}
	expect(t, store, "take", other, ratelimit.Result{Allowed: true, Limit: 2, ResetAfter: time.Minute})
	expect(t, store, "refund", charges[1], ratelimit.Result{})
	advance(9 * s)
	charges, results := append(charges, other), make([]ratelimit.Result, 5)
	if err := perform(t, store, "renew", charges, results); err != nil {
		t.Fatal(err)
	}
	for i, held := range []bool{true, false, true, false, true} {
		if results[i].Allowed != held {
			t.Errorf("lease %d: held is %v: want %v", i, results[i].Allowed, held)
		}
	}
	expect(t, store, "peek", charges[1], ratelimit.Result{Allowed: true, Limit: 3, Remaining: 1, ResetAfter: 10 * s})
	expect(t, store, "peek", other, ratelimit.Result{Allowed: true, Limit: 2, ResetAfter: time.Minute})
}
