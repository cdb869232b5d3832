package ratelimit_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// counter is a memory store that notes what is taken of it and given back.
type counter struct {
	hooked
	mu    sync.Mutex
	asked []int64 // units of each charge, those that are given back negative
}

func (c *counter) note(charges []ratelimit.Charge, sign int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range charges {
		c.asked = append(c.asked, sign*charges[i].Cost)
	}
}

func newCounter() *counter {
	c := &counter{hooked: hooked{Store: memlimit.New()}}
	c.take = func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
		c.note(charges, 1)
		return c.Store.Take(ctx, charges, results)
	}
	c.refund = func(ctx context.Context, charges []ratelimit.Charge) error {
		c.note(charges, -1)
		return c.Store.Refund(ctx, charges)
	}
	return c
}

// check checks what was asked since the last check.
func (c *counter) check(t *testing.T, want ...int64) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Equal(c.asked, want) {
		t.Errorf("the store was asked for %v: want %v", c.asked, want)
	}
	c.asked = nil
}

// remaining returns what a store has left of the bucket "k" of a limit.
func remaining(t *testing.T, store ratelimit.Store, limit ratelimit.Limit) int64 {
	t.Helper()
	results := make([]ratelimit.Result, 1)
	if err := store.Peek(t.Context(), []ratelimit.Charge{{Key: []byte("k"), Name: "limit", Limit: limit}}, results); err != nil {
		t.Fatal(err)
	}
	return results[0].Remaining
}

// calls makes n calls and returns how many were admitted.
func calls(t *testing.T, g *ratelimit.Guard, n int, args ...ratelimit.Arg) (admitted int) {
	t.Helper()
	for range n {
		switch err := g.Allow(t.Context(), args...); {
		case err == nil:
			admitted++
		case !errors.Is(err, ratelimit.ErrLimited):
			t.Fatal(err)
		}
	}
	return admitted
}

func window(n int64, period time.Duration) ratelimit.Limit {
	return ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: n, Period: period}
}

// stocked is a rule whose units may lie in the process.
func stocked(limit ratelimit.Limit, prefetch int64) ratelimit.Rule {
	r := rule(limit)
	r.Prefetch = prefetch
	return r
}

func TestPrefetch(t *testing.T) {
	hour := ratelimit.Limit{Count: 10, Period: time.Hour}
	tests := []struct {
		name     string
		limit    ratelimit.Limit
		prefetch int64
		cost     int64
		calls    int
		admitted int
		asked    []int64
	}{
		{"half of it at once", hour, 5, 1, 10, 10, []int64{5, 5}},
		{"all of it", hour, 10, 1, 10, 10, []int64{10}},
		{"what is left", hour, 4, 1, 10, 10, []int64{4, 4, 2}},
		{"a window", window(10, time.Hour), 4, 1, 10, 10, []int64{4, 4, 2}},
		{"a bucket that leaks", ratelimit.Limit{Algorithm: ratelimit.LeakyBucket, Count: 10, Period: time.Hour}, 5, 1, 10, 10, []int64{5, 5}},
		{"a bucket that refills in intervals", ratelimit.Limit{Count: 10, Period: time.Hour, Refill: ratelimit.Interval}, 5, 1, 10, 10, []int64{5, 5}},
		{"all of the burst", ratelimit.Limit{Count: 10, Period: time.Hour, Burst: 3}, 3, 1, 3, 3, []int64{3}},
		{"the last is refused by the store", hour, 5, 1, 12, 10, []int64{5, 5, 1, 1}},
		{"calls of several units", hour, 4, 3, 4, 3, []int64{4, 4, 2, 2}}, // 1 is left after the first, and so it goes on
		{"calls of more than that", hour, 2, 4, 3, 2, []int64{4, 4, 4}},
		{"a call above the capacity", hour, 2, 11, 1, 0, []int64{11}},
		{"a call that takes nothing", hour, 2, ratelimit.Free, 2, 2, []int64{0, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				store := newCounter()
				r := stocked(tt.limit, tt.prefetch)
				r.Cost = tt.cost
				var args []ratelimit.Arg
				if tt.cost > tt.prefetch { // which only a call itself can say
					r.Cost, r.CostArg, args = 0, true, append(args, ratelimit.Cost("limit", tt.cost))
				}
				l := newLimiter(t, store)
				if n := calls(t, l.Guard("m", r), tt.calls, args...); n != tt.admitted {
					t.Errorf("%d calls were admitted: want %d", n, tt.admitted)
				}
				store.check(t, tt.asked...)
				if err := l.Close(t.Context()); err != nil {
					t.Error(err)
				}
				if left, want := remaining(t, store, tt.limit), tt.limit.Capacity()-max(0, tt.cost)*int64(tt.admitted); left != want {
					t.Errorf("%d are left in the end: want %d", left, want)
				}
			})
		})
	}
}

// Who sees the results of a process that is alone sees those of a limiter without units of its own.
func TestResultsOfUnitsThatLieHere(t *testing.T) {
	for _, limit := range []ratelimit.Limit{
		{Count: 10, Period: time.Second},
		{Algorithm: ratelimit.LeakyBucket, Count: 10, Period: time.Second, Burst: 12},
		{Count: 10, Period: time.Second, Burst: 25, Refill: ratelimit.Interval},
		window(10, time.Second),
	} {
		in(t, func(t *testing.T) {
			g, plain := newLimiter(t, memlimit.New()).Guard("m", stocked(limit, 4)), newLimiter(t, memlimit.New()).Guard("m", rule(limit))
			for i := range 20 {
				var got, want results
				err, wantErr := g.Allow(ratelimit.WithRecorder(t.Context(), &got)), plain.Allow(ratelimit.WithRecorder(t.Context(), &want))
				if (err == nil) != (wantErr == nil) || got != want {
					t.Errorf("%v: call %d\n got %+v\nwant %+v", limit.Algorithm, i+1, got, want)
				}
				if i%3 == 0 {
					time.Sleep(30 * time.Millisecond)
				}
			}
		})
	}
}

// results is a recorder of the last result of a limit.
type results struct{ ratelimit.Result }

func (r *results) Record(_ string, outcomes []ratelimit.Outcome) { r.Result = outcomes[0].Result }

func TestUnitsEndWithTheirWindow(t *testing.T) {
	tests := []struct {
		name  string
		limit ratelimit.Limit
		after time.Duration
		lie   int64
	}{
		{"a window that lasts", window(9, time.Second), 999998 * time.Microsecond, 4},
		{"a window that is over", window(9, time.Second), time.Second, 0},
		{"an interval that lasts", ratelimit.Limit{Count: 9, Period: time.Second, Burst: 20, Refill: ratelimit.Interval}, 999998 * time.Microsecond, 4},
		{"an interval that is over", ratelimit.Limit{Count: 9, Period: time.Second, Burst: 20, Refill: ratelimit.Interval}, time.Second, 0},
		{"one by one, the first has gone to the call", ratelimit.Limit{Count: 10, Period: time.Second}, 99 * time.Millisecond, 4},
		{"one by one, two are back", ratelimit.Limit{Count: 10, Period: time.Second}, 150 * time.Millisecond, 3},
		{"one by one, all are back", ratelimit.Limit{Count: 10, Period: time.Second}, 450 * time.Millisecond, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				l := newLimiter(t, memlimit.New())
				calls(t, l.Guard("m", stocked(tt.limit, 5)), 1)
				time.Sleep(tt.after)
				if n := l.Stocked(ratelimit.Charge{Key: []byte("k"), Name: "limit", Limit: tt.limit}); n != tt.lie {
					t.Errorf("%d units lie here: want %d", n, tt.lie)
				}
			})
		})
	}
}

func TestPrefetchOfSeveralLimits(t *testing.T) {
	in(t, func(t *testing.T) {
		store := newCounter()
		small, large := stocked(window(3, time.Hour), 2), stocked(window(100, time.Hour), 10)
		small.Name, large.Key = "small", "large"
		l := newLimiter(t, store)
		g := l.Guard("m", small, large)
		if n := calls(t, g, 2); n != 2 {
			t.Fatal(n)
		}
		store.check(t, 2, 10) // in one trip, and the second call without
		calls(t, g, 1)
		store.check(t, 1) // of the one that lacks some
		calls(t, g, 4)
		store.check(t, 1, 1, 1, 1)
		if n := l.Stocked(ratelimit.Charge{Key: []byte("large"), Name: "limit", Limit: large.Limit}); n != 7 {
			t.Errorf("%d units lie here after calls that another limit refused: want 7", n)
		}
	})
}

func TestPrefetchOfAShadow(t *testing.T) {
	in(t, func(t *testing.T) {
		r := stocked(window(3, time.Hour), 2)
		r.Mode = ratelimit.ModeShadow
		store := newCounter()
		g := newLimiter(t, store).Guard("m", r)
		want := []string{"m limit true 2 shadow", "m limit true 1 shadow", "m limit true 0 shadow", "m limit false 0 shadow"}
		if lines := recordedBy(t, g, 4); !slices.Equal(lines, want) {
			t.Errorf("recorded %q", lines)
		}
		store.check(t, 2, 1, 1)
	})
}

// Rules that are for one bucket, with different limits, cannot share what lies here. What one has of it is given back before the
// other is refused.
func TestPrefetchOfOneBucketForTwoLimits(t *testing.T) {
	in(t, func(t *testing.T) {
		store := newCounter()
		l := newLimiter(t, store)
		calls(t, l.Guard("a", stocked(window(100, time.Hour), 10)), 2)
		if n := calls(t, l.Guard("b", stocked(window(50, time.Hour), 10)), 50); n != 48 {
			t.Errorf("%d calls were admitted: want 48", n)
		}
		store.check(t, slices.Concat([]int64{10}, slices.Repeat([]int64{1}, 41), []int64{-8, 1, 7, 1, 1})...)
	})
}

func TestPrefetchThatCannotBe(t *testing.T) {
	tests := []struct {
		rule ratelimit.Rule
		want string
	}{
		{stocked(window(10, time.Hour), 1), "ratelimit: Rule.Prefetch is 1: want 2 to the count, 10, or 0"},
		{stocked(window(10, time.Hour), -2), "ratelimit: Rule.Prefetch is -2: want 2 to the count, 10, or 0"},
		{stocked(window(10, time.Hour), 11), "ratelimit: Rule.Prefetch is 11: want 2 to the count, 10, or 0"},
		{
			stocked(ratelimit.Limit{Count: 100, Period: time.Hour, Burst: 10}, 11),
			"ratelimit: Rule.Prefetch is 11: want 2 to the burst, 10, or 0",
		},
		{
			ratelimit.Rule{Key: "k", Limit: ratelimit.Limit{Count: 10, Period: time.Hour}, Prefetch: 5, Cost: 6},
			"ratelimit: Rule.Prefetch is 5: want at least Rule.Cost, 6, which a call takes at once anyway",
		},
		{
			stocked(ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: 10, Period: time.Hour}, 5),
			"ratelimit: Rule.Prefetch is 5: want none with sliding-log, but token-bucket, leaky-bucket or fixed-window",
		},
		{stocked(slots(10, time.Hour), 5), "ratelimit: Rule.Prefetch is 5: want none with concurrency, but token-bucket, leaky-bucket or fixed-window"},
		{
			ratelimit.Rule{Key: "k", Limit: ratelimit.Limit{Count: 10, Period: time.Hour}, Prefetch: 5, Wait: time.Second},
			"ratelimit: Rule.Prefetch is 5: want none with a Wait, since units that lie here know of no turns",
		},
	}
	for _, tt := range tests {
		checkError(t, newLimiter(t, &script{}).Guard("m", tt.rule).Allow(t.Context()), "m: rate limit undecided: "+tt.want)
	}
}

func TestUnitsThatLieHereTakeNoMemoryToServe(t *testing.T) {
	l := newLimiter(t, memlimit.New())
	charges := []ratelimit.Charge{{Key: []byte("testGet:203.0.113.7"), Name: "1h", Limit: window(1_000_000, time.Hour), Cost: 1}}
	results := make([]ratelimit.Result, 1)
	ctx := t.Context()
	if n := testing.AllocsPerRun(1000, func() {
		if err := l.TakeStocked(ctx, charges, results, 100_000); err != nil || !results[0].Allowed {
			t.Fatal(results[0], err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a call: want none", n)
	}
}
