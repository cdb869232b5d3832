package ratelimittest

import (
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// clock returns a Store's time in microseconds since 1970. What shows it is where the windows of a sliding window lie:
// just after its first call it is as new when the next window is over.
func clock(t *testing.T, store ratelimit.Store) int64 {
	t.Helper()
	// The time modulo each of two periods, that have no small multiple in common.
	const first, second = 87600 * time.Hour, 87599 * time.Hour
	var into [2]int64
	for i, period := range []time.Duration{first, second} {
		c := charge("clock", slide(1, period), 1)
		result, err := call(t, store, "take", c)
		if err != nil {
			t.Fatal(err)
		}
		if result.ResetAfter <= period || result.ResetAfter > 2*period {
			t.Fatalf("a sliding window is as new after %v: want %v to %v", result.ResetAfter, period, 2*period)
		}
		into[i] = (2*period - result.ResetAfter).Microseconds()
		expect(t, store, "reset", c, ratelimit.Result{})
	}
	now := into[0]
	for now%second.Microseconds() != into[1] {
		now += first.Microseconds()
		if now > start {
			t.Fatalf("windows that are %v and %v old do not both follow each other from 1970 on", micros(into[0]), micros(into[1]))
		}
	}
	return now
}

// align brings a Store to the start of a window of a sliding window.
func align(t *testing.T, store ratelimit.Store, advance func(time.Duration), period time.Duration) {
	t.Helper()
	advance(period - micros(clock(t, store))%period)
}
