package ratelimittest

import (
	"errors"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

const (
	us = time.Microsecond
	ms = time.Millisecond
	s  = time.Second
	h  = time.Hour
)

// testCase is a table of calls on one bucket. Its comments name the entries of the collection of bug reports that it
// replays. A case of a sliding window or log begins at the start of a window, or of a tick.
type testCase struct {
	name     string
	limit    ratelimit.Limit
	steps    []step
	admitted int // how many takes must be allowed in all; 0: not counted
}

// step is one call. Its want is checked only as far as it was given.
type step struct {
	at     time.Duration // since the start of the case
	do     string
	cost   int64
	holder string
	delay  time.Duration   // of refund: what is left of the call's delay
	taken  *time.Duration  // of refund: when its units were taken, since the start of the case, if that is said
	limit  ratelimit.Limit // of change
	wait   time.Duration   // of waits
	want   ratelimit.Result
	check  int
	lost   bool // of refund: whether the error says that the lease is lost
}

const (
	nothing = iota
	allowance
	everything
)

func take(at time.Duration, cost int64) step   { return step{at: at, do: "take", cost: cost} }
func peek(at time.Duration, cost int64) step   { return step{at: at, do: "peek", cost: cost} }
func refund(at time.Duration, cost int64) step { return step{at: at, do: "refund", cost: cost} }

// renew is a step that a Store which is no [ratelimit.Renewer] makes skip the rest of its case.
func renew(at time.Duration, cost int64) step { return step{at: at, do: "renew", cost: cost} }

// change makes limit hold from here on.
func change(limit ratelimit.Limit) step { return step{do: "change", limit: limit} }

// waits makes calls wait for their turn from here on, for no longer than wait.
func waits(wait time.Duration) step { return step{do: "waits", wait: wait} }

// by says who calls.
func (st step) by(holder string) step {
	st.holder = holder
	return st
}

// early makes a refund that of a caller whose turn would come in delay.
func (st step) early(delay time.Duration) step {
	st.delay = delay
	return st
}

// of says when the units of a refund were taken.
func (st step) of(taken time.Duration) step {
	st.taken = &taken
	return st
}

// allowed is the answer to a call that goes on and leaves remaining units and reset until the bucket is as new.
func (st step) allowed(remaining int64, reset time.Duration) step {
	st.want = ratelimit.Result{Allowed: true, Remaining: remaining, ResetAfter: reset}
	st.check = everything
	return st
}

// delayed is the answer to a call that goes on after delay, and leaves reset until the bucket is as new.
func (st step) delayed(delay, reset time.Duration) step {
	st = st.allowed(0, reset)
	st.want.Delay = delay
	return st
}

// refused is the answer to a call that would be allowed retry later.
func (st step) refused(remaining int64, retry, reset time.Duration) step {
	st.want = ratelimit.Result{Remaining: remaining, RetryAfter: retry, ResetAfter: reset}
	st.check = everything
	return st
}

// never is the answer to a call that can never be allowed.
func (st step) never(remaining int64, reset time.Duration) step {
	return st.refused(remaining, ratelimit.Never, reset)
}

// held is the answer to the renewal of a lease that its holder still had.
func (st step) held() step {
	st.want.Allowed = true
	st.check = allowance
	return st
}

// gone is the answer to the renewal or the release of a lease that its holder has no more.
func (st step) gone() step {
	st.lost = st.do == "refund"
	st.check = allowance
	return st
}

// outcomes are takes of one unit, every so often from start on, that are allowed where pattern has a 1 and refused where
// it has a 0.
func outcomes(start, every time.Duration, pattern string) []step {
	steps := make([]step, len(pattern))
	for i, c := range pattern {
		steps[i] = take(start+time.Duration(i)*every, 1)
		steps[i].want.Allowed = c == '1'
		steps[i].check = allowance
	}
	return steps
}

// times are n takes of one unit, every so often from start on, with an answer that depends on how many went before.
func times(n int, start, every time.Duration, answer func(st step, i int64) step) []step {
	steps := make([]step, n)
	for i := range steps {
		steps[i] = answer(take(start+time.Duration(i)*every, 1), int64(i))
	}
	return steps
}

func join(parts ...[]step) []step {
	var steps []step
	for _, p := range parts {
		steps = append(steps, p...)
	}
	return steps
}

// run does the steps and stops at the first wrong answer.
func (c testCase) run(t *testing.T, store ratelimit.Store, advance func(time.Duration)) {
	if c.limit.Algorithm == ratelimit.SlidingWindow || c.limit.Algorithm == ratelimit.SlidingLog {
		align(t, store, advance, c.limit.Period)
	}
	start := micros(clock(t, store))
	limit := c.limit
	admitted := 0
	var now, wait time.Duration
	for i, st := range c.steps {
		switch st.do {
		case "change":
			limit = st.limit
			continue
		case "waits":
			wait = st.wait
			continue
		}
		if st.at != now {
			advance(st.at - now)
			now = st.at
		}
		charge := ratelimit.Charge{
			Key: []byte("case"), Name: "limit", Limit: limit, Cost: st.cost, Wait: wait, Delay: st.delay, Holder: st.holder,
		}
		if st.taken != nil {
			charge.Taken = start + *st.taken
		}
		got, err := call(t, store, st.do, charge)
		if lost := errors.Is(err, ratelimit.ErrLeaseLost); err != nil && !lost || lost != st.lost {
			t.Fatalf("step %d, %s %d at %v: error %v: want one that the lease is lost: %v", i, st.do, st.cost, st.at, err, st.lost)
		}
		if got.Allowed && st.do == "take" {
			admitted++
		}
		want := st.want
		want.Limit, want.At = limit.Capacity(), start+st.at
		switch {
		case st.check == everything && got != want:
			t.Fatalf("step %d, %s %d at %v:\n got %s\nwant %s", i, st.do, st.cost, st.at, show(got), show(want))
		case st.check == allowance && got.Allowed != want.Allowed:
			t.Fatalf("step %d, %s %d at %v: allowed is %v, want %v: %s", i, st.do, st.cost, st.at, got.Allowed, want.Allowed, show(got))
		}
	}
	if c.admitted != 0 && admitted != c.admitted {
		t.Fatalf("%d calls were admitted: want %d", admitted, c.admitted)
	}
}
