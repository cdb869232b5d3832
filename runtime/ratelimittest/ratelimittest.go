// Package ratelimittest has a [Store] that refuses, allows or fails on demand, for tests of services with limits. Beyond that
// it is the conformance suite of [ratelimit.Store]: what passes it can take the place of every other
// Store. In sentences:
//
//   - Each answer is exact to the microsecond: Allowed, Limit, Remaining, RetryAfter, ResetAfter and Delay are those of a
//     model in rational numbers, for every valid limit, any wait and any cost. At is the time of the Store's clock, by which
//     the windows of a sliding window lie too.
//   - Waiting for RetryAfter, with nobody else about, is always enough, and one microsecond less never is. A call that
//     would wait for its turn is allowed then, and has to wait for as long as it would.
//   - A call that waits for its turn is charged at once, in advance of what comes back. One that gives up gives back
//     what nobody waits behind, so that all others keep their turns. A call with a shorter Wait does not go before them
//     in a leaky bucket. In a token bucket it may: there it takes a debt that is beyond its own Wait for a capacity that
//     was lowered.
//   - The charges of a call are decided at one instant, and are charged all or not at all.
//   - A refused call changes nothing. Nor does Peek, nor a charge of cost 0.
//   - A bucket keeps what was used and no configuration. A changed limit holds from the next call on; an empty
//     token bucket that was made smaller is just empty. A leaky bucket keeps the time at which it will have drained, also
//     if it holds more than its capacity until then, and a lease that at which it ends. A bucket is forgotten when it is as new by the limit that it was last charged with, or last refused
//     by if that takes longer.
//   - A sliding log counts all that was taken in the last period, of calls of the same microsecond too. What no longer
//     counts is dropped by the next call that changes the log, and by no other. Above a count of 1,000,000 what is taken in
//     one tick, a millionth of the period, counts from the latest call on.
//   - A slot is its holder's until the lease ends, and nobody else can release it. Taking what one holds takes nothing
//     more and starts the lease anew, as a renewal does, which revives none that has ended. A holder that releases
//     what it no longer holds is told so by [ratelimit.ErrLeaseLost].
//   - Refund never lifts a bucket above its capacity. Right after Take it undoes that. What was taken in a window that is
//     over gives nothing back to a later one; of a sliding window it is the counter of its own window that becomes less.
//     What was taken last from a log is taken back. Of what was taken earlier, the oldest units come back in its place,
//     so that no span holds more than it should of what was not given back; what counts no more has come back already.
//   - Reset makes as new.
//   - Key, name and algorithm together name a bucket. Keys are any bytes, and are neither changed nor kept.
//   - What [ratelimit.CheckDecision], [ratelimit.CheckHolders] and [ratelimit.CheckRenewal] refuse, and a context that has
//     ended, are errors that change nothing.
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
//
// Of a Store that is no [ratelimit.Renewer], what is about renewals is skipped. The last of the tests makes 20,000 random
// calls or more: 200 for each check of package rapid, whose flag -rapid.checks, or variable RAPID_CHECKS, has them be
// any number.
func Run(t *testing.T, newStore func(t *testing.T, test Test)) {
	run(t, newStore, atOnce)
}

func run(t *testing.T, newStore func(t *testing.T, test Test), o order) {
	groups := [][]testCase{
		tokenBuckets(), fixedWindows(), slidingLogs(), slidingWindows(), leakyBuckets(), concurrencyLimits(),
		changedLimits(), changedSlidingLogs(), changedSlidingWindows(), changedLeakyBuckets(), changedLeases(),
		refunds(), waiting(), asLeakyBuckets(waiting()), mixedWaits(),
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
		agree(t, newStore, forwards, o)
	})
}

// RunSetBack tests a Store whose clock can be set back, as a server's can, besides what [Run] tests: the test calls
// advance with negative durations too. Time that lies in the future then counts as now, so that a clock that was set
// back locks nobody out, and gives nobody anything. Of a leaky bucket, whose time always does, a clock that was set back
// is calls that filled it: it drains later by as much, and locks nobody out for longer than the step. A lease lasts longer
// by as much, too. Here a refused call does change something: it takes what lies in the future to the present.
func RunSetBack(t *testing.T, newStore func(t *testing.T, test Test)) {
	runSetBack(t, newStore, atOnce)
}

func runSetBack(t *testing.T, newStore func(t *testing.T, test Test), o order) {
	groups := [][]testCase{
		setBack(), setBackSlidingLogs(), setBackSlidingWindows(), setBackLeakyBuckets(), setBackLeases(),
		setBackRefunds(), waitingSetBack(),
	}
	for _, group := range groups {
		for _, c := range group {
			t.Run(c.name, func(t *testing.T) { newStore(t, c.run) })
		}
	}
	t.Run("any calls get the answers of the model", func(t *testing.T) {
		agree(t, newStore, forwardsAndBack, o)
	})
}

// RunByKey is [Run] and [RunSetBack] for a Store whose buckets live on several servers. It decides the charges of a call
// Key by Key, in the order in which the Keys first occur. When a Key refuses, Take refunds those before it, with the Delay
// that they were given, and then all others answer as the limits of a refused call do.
func RunByKey(t *testing.T, newStore func(t *testing.T, test Test)) {
	run(t, newStore, byKey)
	t.Run("clock set back", func(t *testing.T) { runSetBack(t, newStore, byKey) })
}
