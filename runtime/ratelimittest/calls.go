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
	{"limits of all kinds are charged all or not at all", mixedLimits},
	{"a call waits for its turn at all limits, or at none", waitingTogether},
	{"a bucket that refuses leaves the charge of the others untaken", sharedBucket},
	{"key, name and algorithm each make another bucket", ownBuckets},
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

// minute and longer are two limits of one call.
func minute(cost int64) ratelimit.Charge {
	return ratelimit.Charge{Key: []byte("user:1"), Name: "1m", Limit: window(10, time.Minute), Cost: cost}
}

func longer(cost int64) ratelimit.Charge {
	return ratelimit.Charge{Key: []byte("user:1"), Name: "30m", Limit: tokens(30, 30*time.Minute), Cost: cost}
}

// R45 (a), R46
func allOrNothing(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	for _, charges := range [][]ratelimit.Charge{{minute(1), longer(1)}, {longer(1), minute(1)}} {
		results := make([]ratelimit.Result, 2)
		for i := range int64(31) {
			if err := store.Take(t.Context(), charges, results); err != nil {
				t.Fatal(err)
			}
			used, allowed := min(i+1, 10), i < 10
			want := map[string]ratelimit.Result{
				"1m": {Allowed: allowed, Limit: 10, Remaining: 10 - used, ResetAfter: time.Minute},
				// Of the other limit the result says that it would allow, and how it stands.
				"30m": {Allowed: true, Limit: 30, Remaining: 30 - used, ResetAfter: time.Duration(used) * time.Minute},
			}
			if !allowed {
				refused := want["1m"]
				refused.RetryAfter = time.Minute
				want["1m"] = refused
			}
			for j, c := range charges {
				if results[j] != want[c.Name] {
					t.Fatalf("call %d, limit %s:\n got %s\nwant %s", i, c.Name, show(results[j]), show(want[c.Name]))
				}
			}
		}
		if err := store.Reset(t.Context(), charges); err != nil {
			t.Fatal(err)
		}
	}
}

// R45 (a)
func mixedLimits(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	bucket, log := charge("all", tokens(4, 40*s), 1), charge("all", record(3, 30*s), 1)
	take := func(holder string) []ratelimit.Result {
		slot := charge("all", slots(2, time.Minute), 1)
		slot.Holder = holder
		results := make([]ratelimit.Result, 3)
		if err := store.Take(t.Context(), []ratelimit.Charge{bucket, log, slot}, results); err != nil {
			t.Fatal(err)
		}
		return results
	}
	release := func(holder string) error {
		slot := charge("all", slots(2, time.Minute), 1)
		slot.Holder = holder
		return store.Refund(t.Context(), []ratelimit.Charge{slot})
	}
	bucketWith := func(n int64) ratelimit.Result {
		return ratelimit.Result{Allowed: true, Limit: 4, Remaining: n, ResetAfter: time.Duration(4-n) * 10 * s}
	}
	logWith := func(n int64) ratelimit.Result {
		return ratelimit.Result{Allowed: true, Limit: 3, Remaining: n, ResetAfter: 30 * s}
	}
	slotsWith := func(n int64) ratelimit.Result {
		return ratelimit.Result{Allowed: true, Limit: 2, Remaining: n, ResetAfter: time.Minute}
	}
	refusing := func(r ratelimit.Result) ratelimit.Result {
		r.Allowed, r.RetryAfter = false, r.ResetAfter
		return r
	}
	steps := []struct {
		take, release string // the holder
		want          [3]ratelimit.Result
	}{
		{take: "A", want: [3]ratelimit.Result{bucketWith(3), logWith(2), slotsWith(1)}},
		{take: "B", want: [3]ratelimit.Result{bucketWith(2), logWith(1), slotsWith(0)}},
		{take: "C", want: [3]ratelimit.Result{bucketWith(2), logWith(1), refusing(slotsWith(0))}},
		{take: "A", want: [3]ratelimit.Result{bucketWith(1), logWith(0), slotsWith(0)}}, // which holds one already
		{take: "C", want: [3]ratelimit.Result{bucketWith(1), refusing(logWith(0)), refusing(slotsWith(0))}},
		{release: "B"},
		{take: "C", want: [3]ratelimit.Result{bucketWith(1), refusing(logWith(0)), slotsWith(1)}},
	}
	for i, st := range steps {
		if st.release != "" {
			if err := release(st.release); err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
			continue
		}
		for j, got := range take(st.take) {
			if got != st.want[j] {
				t.Fatalf("step %d, charge %d:\n got %s\nwant %s", i, j, show(got), show(st.want[j]))
			}
		}
	}
	if err := release("C"); !errors.Is(err, ratelimit.ErrLeaseLost) {
		t.Errorf("release of a slot that was refused: error %v: want that the lease is lost", err)
	}
}

func waitingTogether(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	fast, slow := charge("fast", burst(1, s, 1), 1), charge("slow", leak(1, 10*s, 2), 1)
	fast.Wait, slow.Wait = 5*s, 5*s
	charges := []ratelimit.Charge{fast, slow, charge("window", window(3, time.Minute), 1)}
	steps := [][3]ratelimit.Result{
		{
			{Allowed: true, Limit: 1, ResetAfter: s},
			{Allowed: true, Limit: 2, Remaining: 1, ResetAfter: 10 * s},
			{Allowed: true, Limit: 3, Remaining: 2, ResetAfter: time.Minute},
		},
		{
			{Allowed: true, Limit: 1, ResetAfter: 2 * s, Delay: s},
			{Allowed: true, Limit: 2, ResetAfter: 20 * s},
			{Allowed: true, Limit: 3, Remaining: 1, ResetAfter: time.Minute},
		},
		{ // the fast one would have allowed it, after a delay
			{Allowed: true, Limit: 1, ResetAfter: 2 * s, Delay: 2 * s},
			{Limit: 2, RetryAfter: 5 * s, ResetAfter: 20 * s},
			{Allowed: true, Limit: 3, Remaining: 1, ResetAfter: time.Minute},
		},
	}
	for i, want := range append(steps, steps[2]) { // what was refused is refused again
		results := make([]ratelimit.Result, 3)
		if err := store.Take(t.Context(), charges, results); err != nil {
			t.Fatal(err)
		}
		for j, got := range results {
			if got != want[j] {
				t.Fatalf("call %d, charge %d:\n got %s\nwant %s", i, j, show(got), show(want[j]))
			}
		}
	}
}

// R45 (b)
func sharedBucket(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	shared := charge("all", window(10, time.Minute), 1)
	for user, calls := range map[string]int{"user:1": 20, "user:2": 1} {
		charges := []ratelimit.Charge{charge(user, tokens(1, time.Minute), 1), shared}
		admitted := 0
		for range calls {
			results := make([]ratelimit.Result, len(charges))
			if err := store.Take(t.Context(), charges, results); err != nil {
				t.Fatal(err)
			}
			if results[0].Allowed && results[1].Allowed {
				admitted++
			}
		}
		if admitted != 1 {
			t.Errorf("%s was admitted %d times: want 1", user, admitted)
		}
	}
	expect(t, store, "peek", shared, ratelimit.Result{Allowed: true, Limit: 10, Remaining: 8, ResetAfter: time.Minute})
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
	charges := []ratelimit.Charge{
		charge("reset", tokens(5, time.Minute), 5),
		charge("reset", window(5, time.Minute), 5),
		charge("reset", record(5, time.Minute), 5),
		charge("reset", leak(5, time.Minute, 0), 5),
		charge("reset", slots(5, time.Minute), 5),
		charge("never used", window(5, time.Minute), 5),
	}
	for _, c := range charges[:5] {
		expect(t, store, "take", c, ratelimit.Result{Allowed: true, Limit: 5, ResetAfter: time.Minute})
	}
	if err := store.Reset(t.Context(), charges); err != nil {
		t.Fatal(err)
	}
	for _, c := range charges {
		c.Cost = 1
		expect(t, store, "peek", c, ratelimit.Result{Allowed: true, Limit: 5, Remaining: 5})
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
