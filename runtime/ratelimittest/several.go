package ratelimittest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// minute and longer are two limits of one call.
func minute(cost int64) ratelimit.Charge {
	return ratelimit.Charge{Key: []byte("user:1"), Name: "1m", Limit: window(10, time.Minute), Cost: cost}
}

func longer(cost int64) ratelimit.Charge {
	return ratelimit.Charge{Key: []byte("user:1"), Name: "30m", Limit: tokens(30, 30*time.Minute), Cost: cost}
}

// R45 (a)
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
				if timeless(results[j]) != want[c.Name] {
					t.Fatalf("call %d, limit %s:\n got %s\nwant %s", i, c.Name, show(results[j]), show(want[c.Name]))
				}
			}
		}
		if err := store.Reset(t.Context(), charges); err != nil {
			t.Fatal(err)
		}
	}
}

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
			{0, true, [2]int64{4, 49}},
			{0, true, [2]int64{3, 48}},
			{0, true, [2]int64{2, 47}},
			{0, true, [2]int64{1, 46}},
			{0, true, [2]int64{0, 45}},
			{0, false, [2]int64{0, 45}},
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
			if timeless(got) != st.want[j] {
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
			if timeless(got) != want[j] {
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
