package ratelimittest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// R04: called as early as it says each time, a bucket admits its burst and then its rate.
func saturation(t *testing.T, store ratelimit.Store, advance func(time.Duration)) {
	tests := []struct {
		rate     int64
		span     time.Duration
		admitted int64
	}{
		{999, time.Second, 1000},
		{1000, time.Second / 10, 101},
		{1001, time.Second, 1002},
		{1500, time.Second / 10, 151},
		{3000, time.Second / 5, 601},
		{27_000, time.Second / 50, 541},
		{999_983, time.Second / 1000, 1000}, // one each 1.000017 µs
	}
	for _, test := range tests {
		for _, limit := range []ratelimit.Limit{burst(test.rate, time.Second, 2), leak(test.rate, time.Second, 2)} {
			if n := saturate(t, store, advance, limit, test.span); n != test.admitted {
				t.Errorf("%v, %d per second admits %d in %v: want %d", limit.Algorithm, test.rate, n, test.span, test.admitted)
			}
		}
	}
}

// saturate returns how many calls are admitted in a span.
func saturate(t *testing.T, store ratelimit.Store, advance func(time.Duration), limit ratelimit.Limit, span time.Duration) int64 {
	t.Helper()
	c := charge(fmt.Sprint("rate ", limit.Count), limit, 1)
	var now time.Duration
	var admitted int64
	for now < span {
		result, err := call(t, store, "take", c)
		if err != nil {
			t.Fatal(err)
		}
		if result.Allowed {
			admitted++
			continue
		}
		if result.RetryAfter < us || result.RetryAfter > span {
			t.Fatalf("%v, %d per second: refused with %s", limit.Algorithm, limit.Count, show(result))
		}
		advance(result.RetryAfter)
		now += result.RetryAfter
	}
	return admitted
}

// spans checks what each algorithm promises of any span of one period, on calls of any cost that come when they are due,
// or at once, or late. Of calls that wait for their turn, it is the turns that count, also when some give up. What is
// given back does not count, and nothing passes in its place that should not.
func spans(t *testing.T, store ratelimit.Store, advance func(time.Duration)) {
	const count, size = 10, 4
	none, long, mixed := []time.Duration{0}, []time.Duration{40 * ms}, []time.Duration{0, 5 * ms, 40 * ms}
	tests := []struct {
		limit ratelimit.Limit
		waits []time.Duration // one of them for each call
		most  int64
	}{
		{burst(count, 13*ms, size), none, size + count},
		{burst(count, 13*ms, size), long, size + count},
		{interval(count, 13*ms, 3*size), none, 3*size + count},
		{interval(count, 13*ms, 3*size), long, 3*size + count},
		{leak(count, 13*ms, size), none, size + count},
		{leak(count, 13*ms, size), long, size + count},
		{leak(count, 13*ms, size), mixed, size + count}, // a token bucket does not promise this
		{window(count, 13*ms), none, 2 * count},
		{record(count, 13*ms), none, count},
		{slide(count, 13*ms), none, 2*count - 1},
	}
	random := rand.New(rand.NewPCG(1, 2)) // the same calls each time
	for _, test := range tests {
		c := charge(fmt.Sprint(test.limit, test.waits), test.limit, 0)
		gone := crowd(t, store, advance, c, test.waits, random)
		var worst, units int64
		for from, to := 0, 0; to < len(gone); to++ {
			units += gone[to].units
			for gone[to].at-gone[from].at >= test.limit.Period.Microseconds() {
				units -= gone[from].units
				from++
			}
			worst = max(worst, units)
		}
		if worst > test.most || worst < test.limit.Capacity() {
			t.Errorf("%+v, waits %v: %d in one period: want %d to %d", test.limit, test.waits, worst, test.limit.Capacity(), test.most)
		}
	}
}

// passed is what went on, when its turn had come, and when it was taken.
type passed struct {
	entry
	taken time.Duration
}

// crowd calls many times, gives back what some of the calls took, and returns what else went on when.
func crowd(t *testing.T, store ratelimit.Store, advance func(time.Duration), c ratelimit.Charge, waits []time.Duration, random *rand.Rand) []passed {
	t.Helper()
	var gone []passed
	var now int64
	for range 1000 {
		if i := len(gone) - 1 - random.IntN(10); i >= 0 && givesBack(c.Limit, gone[i].at-now, random) {
			back := c
			back.Cost, back.Taken, back.Delay = gone[i].units, gone[i].taken, micros(max(0, gone[i].at-now))
			expect(t, store, "refund", back, ratelimit.Result{})
			gone = slices.Delete(gone, i, i+1)
		}
		c.Wait = waits[random.IntN(len(waits))]
		c.Cost = 1 + random.Int64N(c.Limit.Capacity())
		result, err := call(t, store, "take", c)
		if err != nil {
			t.Fatal(err)
		}
		var pause time.Duration
		switch {
		case result.RetryAfter > 2*c.Limit.Period+slices.Max(waits):
			t.Fatalf("%+v: refused with %s", c.Limit, show(result))
		case result.Allowed:
			gone = append(gone, passed{entry{now + result.Delay.Microseconds(), c.Cost}, result.At})
		case random.IntN(8) > 0:
			pause = result.RetryAfter
		default:
			pause = micros(random.Int64N(2 * c.Limit.Period.Microseconds()))
		}
		advance(pause)
		now += pause.Microseconds()
	}
	slices.SortFunc(gone, func(a, b passed) int { return cmp.Compare(a.at, b.at) })
	return gone
}

// givesBack decides whether a call whose turn is after, or was before, gives back what it took. One that waits gives up.
// A bucket whose units come back one by one does not know which have: there a call gives back what it has just taken.
func givesBack(limit ratelimit.Limit, after int64, random *rand.Rand) bool {
	switch limit.Algorithm {
	case ratelimit.TokenBucket, ratelimit.LeakyBucket:
		return after > 0 || after == 0 && random.IntN(4) == 0
	}
	return random.IntN(4) == 0
}
