// Package ratelimittest is the conformance suite of [ratelimit.Store]: what passes it can take the place of every other
// Store. In sentences:
//
//   - Each answer is exact to the microsecond: Allowed, Limit, Remaining, RetryAfter and ResetAfter are those of a model
//     in rational numbers, for every valid limit and any cost.
//   - Waiting for RetryAfter, with nobody else about, is always enough, and one microsecond less never is.
//   - The charges of a call are decided at one instant, and are charged all or not at all.
//   - A refused call changes nothing. Nor does Peek, nor a charge of cost 0. One exception: a leaky bucket that holds more
//     than its capacity, which was lowered, is just full after a refused call.
//   - A bucket keeps what was used and no configuration. A changed limit holds from the next call on; an empty bucket
//     that was made smaller is just empty. A leaky bucket keeps the time at which it will have drained. A bucket is forgotten when it is as new by the limit that it was last charged
//     with, or last refused by if that takes longer.
//   - Refund neither lifts a bucket above its capacity nor reaches into a later window. Reset makes as new.
//   - Key, name and algorithm together name a bucket. Keys are any bytes, and are neither changed nor kept.
//   - What [ratelimit.CheckDecision] refuses, and a context that has ended, are errors that change nothing.
//   - Concurrent calls are decided as if one after the other.
package ratelimittest

import (
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// Test is one test of the suite. It needs a new, empty store, and for its own use a clock that stands still unless
// advance moves it, by whole microseconds. It keeps neither when it returns.
type Test func(t *testing.T, store ratelimit.Store, advance func(time.Duration))

// Run tests a Store. It calls newStore for each test of the suite, and newStore makes what the test needs, runs it once
// and cleans up.
//
// A Store that takes the time from package time needs a bubble of testing/synctest:
//
//	ratelimittest.Run(t, func(t *testing.T, test ratelimittest.Test) {
//		synctest.Test(t, func(t *testing.T) { test(t, memlimit.New(), time.Sleep) })
//	})
//
// One that takes it from a server needs a server whose time can be set. The test moves it to 2050, and from there on by up
// to a hundred years.
func Run(t *testing.T, newStore func(t *testing.T, test Test)) {
	groups := [][]testCase{
		tokenBuckets(), fixedWindows(), slidingLogs(), slidingWindows(), leakyBuckets(), concurrencyLimits(),
		changedLimits(), changedSlidingLogs(), changedSlidingWindows(), changedLeakyBuckets(), changedLeases(),
		waiting(), asLeakyBuckets(waiting()),
	}
	for _, group := range groups {
		for _, c := range group {
			t.Run(c.name, func(t *testing.T) { newStore(t, c.run) })
		}
	}
	for _, c := range calls {
		t.Run(c.name, func(t *testing.T) { newStore(t, c.run) })
	}
	t.Run("any calls get the answers of the model", func(t *testing.T) {
		agree(t, newStore, forwards)
	})
}

// RunSetBack tests a Store whose clock can be set back, as a server's can, besides what [Run] tests: the test calls
// advance with negative durations too. Time that lies in the future then counts as now, so that a clock that was set
// back locks nobody out, and gives nobody anything. Of a leaky bucket, whose time always does, a clock that was set back
// is calls that filled it: it locks nobody out for longer than a full one.
func RunSetBack(t *testing.T, newStore func(t *testing.T, test Test)) {
	groups := [][]testCase{
		setBack(), setBackSlidingLogs(), setBackSlidingWindows(), setBackLeakyBuckets(), setBackLeases(), waitingSetBack(),
	}
	for _, group := range groups {
		for _, c := range group {
			t.Run(c.name, func(t *testing.T) { newStore(t, c.run) })
		}
	}
	t.Run("any calls get the answers of the model", func(t *testing.T) {
		agree(t, newStore, forwardsAndBack)
	})
}
