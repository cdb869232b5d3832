package ratelimittest

import (
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// clock returns a Store's time in microseconds since 1970, by its answers. Where the windows of a sliding window lie shows
// it too: just after its first call it is as new when the next window is over.
func clock(t *testing.T, store ratelimit.Store) int64 {
	t.Helper()
	const period = 87600 * time.Hour
	c := charge("clock", slide(1, period), 1)
	result, err := call(t, store, "take", c)
	if err != nil {
		t.Fatal(err)
	}
	if want := 2*period - result.At%period; result.At <= 0 || result.ResetAfter != want {
		t.Fatalf("at %v a sliding window is as new after %v: want %v, if windows follow each other from 1970 on", result.At, result.ResetAfter, want)
	}
	expect(t, store, "reset", c, ratelimit.Result{})
	return result.At.Microseconds()
}

// align brings a Store to the start of a window of a sliding window.
func align(t *testing.T, store ratelimit.Store, advance func(time.Duration), period time.Duration) {
	t.Helper()
	advance(period - micros(clock(t, store))%period)
}
