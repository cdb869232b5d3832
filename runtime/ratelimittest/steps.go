package ratelimittest

import (
	"fmt"
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
// replays. A case of a sliding window begins at the start of a window.
type testCase struct {
	name     string
	limit    ratelimit.Limit
	steps    []step
	admitted int // how many takes must be allowed in all; 0: not counted
}

// step is one call. Its want is checked only as far as it was given.
type step struct {
	at    time.Duration // since the start of the case
	do    string
	cost  int64
	limit ratelimit.Limit // of change
	want  ratelimit.Result
	check int
}

const (
	nothing = iota
	allowance
	everything
)

func take(at time.Duration, cost int64) step   { return step{at: at, do: "take", cost: cost} }
func peek(at time.Duration, cost int64) step   { return step{at: at, do: "peek", cost: cost} }
func refund(at time.Duration, cost int64) step { return step{at: at, do: "refund", cost: cost} }

// change makes limit hold from here on.
func change(limit ratelimit.Limit) step { return step{do: "change", limit: limit} }

// allowed is the answer to a call that goes on and leaves remaining units and reset until the bucket is as new.
func (st step) allowed(remaining int64, reset time.Duration) step {
	st.want = ratelimit.Result{Allowed: true, Remaining: remaining, ResetAfter: reset}
	st.check = everything
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

func tokens(count int64, period time.Duration) ratelimit.Limit {
	return ratelimit.Limit{Count: count, Period: period}
}

func burst(count int64, period time.Duration, burst int64) ratelimit.Limit {
	return ratelimit.Limit{Count: count, Period: period, Burst: burst}
}

func interval(count int64, period time.Duration, burst int64) ratelimit.Limit {
	return ratelimit.Limit{Count: count, Period: period, Burst: burst, Refill: ratelimit.Interval}
}

func window(count int64, period time.Duration) ratelimit.Limit {
	return ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: count, Period: period}
}

func slide(count int64, period time.Duration) ratelimit.Limit {
	return ratelimit.Limit{Algorithm: ratelimit.SlidingWindow, Count: count, Period: period}
}

func leak(count int64, period time.Duration, burst int64) ratelimit.Limit {
	return ratelimit.Limit{Algorithm: ratelimit.LeakyBucket, Count: count, Period: period, Burst: burst}
}

// run does the steps and stops at the first wrong answer.
func (c testCase) run(t *testing.T, store ratelimit.Store, advance func(time.Duration)) {
	if c.limit.Algorithm == ratelimit.SlidingWindow {
		align(t, store, advance, c.limit.Period)
	}
	limit := c.limit
	admitted := 0
	var now time.Duration
	for i, st := range c.steps {
		if st.do == "change" {
			limit = st.limit
			continue
		}
		if st.at != now {
			advance(st.at - now)
			now = st.at
		}
		got, err := call(t, store, st.do, charge("case", limit, st.cost))
		if err != nil {
			t.Fatalf("step %d, %s %d at %v: %v", i, st.do, st.cost, st.at, err)
		}
		if got.Allowed && st.do == "take" {
			admitted++
		}
		want := st.want
		want.Limit = limit.Capacity()
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

func charge(key string, limit ratelimit.Limit, cost int64) ratelimit.Charge {
	return ratelimit.Charge{Key: []byte(key), Name: "limit", Limit: limit, Cost: cost}
}

// call does one thing with one charge.
func call(t *testing.T, store ratelimit.Store, do string, c ratelimit.Charge) (ratelimit.Result, error) {
	t.Helper()
	charges, results := []ratelimit.Charge{c}, make([]ratelimit.Result, 1)
	err := perform(t, store, do, charges, results)
	return results[0], err
}

func perform(t *testing.T, store ratelimit.Store, do string, charges []ratelimit.Charge, results []ratelimit.Result) error {
	t.Helper()
	ctx := t.Context()
	switch do {
	case "take":
		return store.Take(ctx, charges, results)
	case "peek":
		return store.Peek(ctx, charges, results)
	case "refund":
		return store.Refund(ctx, charges)
	case "reset":
		return store.Reset(ctx, charges)
	}
	return fmt.Errorf("no such call: %q", do)
}

func show(r ratelimit.Result) string {
	retry := r.RetryAfter.String()
	if r.RetryAfter == ratelimit.Never {
		retry = "never"
	}
	return fmt.Sprintf("allowed %v, limit %d, remaining %d, retry %s, reset %v", r.Allowed, r.Limit, r.Remaining, retry, r.ResetAfter)
}
