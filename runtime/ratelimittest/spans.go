package ratelimittest

import (
	"fmt"
	"math/rand/v2"
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
		{1001, time.Second, 1002},
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
// or at once, or late.
func spans(t *testing.T, store ratelimit.Store, advance func(time.Duration)) {
	const calls, count, size = 1000, 10, 4
	tests := []struct {
		limit ratelimit.Limit
		most  int64
	}{
		{burst(count, 13*ms, size), size + count},
		{interval(count, 13*ms, 3*size), 3*size + count},
		{leak(count, 13*ms, size), size + count},
		{window(count, 13*ms), 2 * count},
		{slide(count, 13*ms), 2*count - 1},
	}
	random := rand.New(rand.NewPCG(1, 2)) // the same calls each time
	for _, test := range tests {
		var at []time.Duration // of the units that were admitted
		var now time.Duration
		for range calls {
			cost := 1 + random.Int64N(test.limit.Capacity())
			c := charge(fmt.Sprint(test.limit), test.limit, cost)
			result, err := call(t, store, "take", c)
			if err != nil {
				t.Fatal(err)
			}
			var pause time.Duration
			switch {
			case result.RetryAfter > 2*test.limit.Period:
				t.Fatalf("%+v: refused with %s", test.limit, show(result))
			case result.Allowed:
				for range cost {
					at = append(at, now)
				}
			case random.IntN(8) > 0:
				pause = result.RetryAfter
			default:
				pause = micros(random.Int64N(2 * test.limit.Period.Microseconds()))
			}
			advance(pause)
			now += pause
		}
		var worst int64
		for from, to := 0, 0; to < len(at); to++ {
			for at[to]-at[from] >= test.limit.Period {
				from++
			}
			worst = max(worst, int64(to-from+1))
		}
		if worst > test.most || worst < test.limit.Capacity() {
			t.Errorf("%+v: %d in one period: want %d to %d", test.limit, worst, test.limit.Capacity(), test.most)
		}
	}
}
