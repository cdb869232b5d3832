package ratelimit_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// overrideStep overrides a limit, if it says how, and then calls.
type overrideStep struct {
	at       time.Duration
	override *ratelimit.Override
	want     string // of calls that follow at once: 1 for each that goes on, 0 for each that is refused
	last     string // how the limit stands then: remaining of its capacity, and the wait, or when it is as new
}

// Reports of limits that are changed while they are in use, replayed by overrides. The suite of stores has them for stores.
func TestOverridesOfLimitsInUse(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	limit := func(a ratelimit.Algorithm, count int64, period time.Duration) ratelimit.Limit {
		return ratelimit.Limit{Algorithm: a, Count: count, Period: period}
	}
	interval := limit(ratelimit.TokenBucket, 5, 5*ms)
	interval.Refill = ratelimit.Interval
	burst := limit(ratelimit.TokenBucket, 10, s)
	burst.Burst = 100
	count := func(n int64) *ratelimit.Override { return &ratelimit.Override{Count: n} }
	n := strings.Repeat
	tests := []struct {
		name  string
		limit ratelimit.Limit
		steps []overrideStep
	}{
		{
			// D01
			"a new limit holds though the key lives", limit(ratelimit.FixedWindow, 100, 60*s),
			[]overrideStep{{0, nil, "1", "99/100 reset 1m0s"}, {10 * s, count(10), "1", "8/10 reset 50s"}},
		},
		{
			// D02
			"raised and lowered", limit(ratelimit.FixedWindow, 10, 60*s),
			[]overrideStep{
				{0, nil, n("1", 8), "2/10 reset 1m0s"},
				{10 * s, count(20), "1", "11/20 reset 50s"},
				{10 * s, count(5), "0", "0/5 retry 50s"},
				{60 * s, nil, "111110", "0/5 retry 1m0s"},
			},
		},
		{
			// D03
			"lowered inside the period", limit(ratelimit.FixedWindow, 10, s),
			[]overrideStep{
				{0, nil, "111", "7/10 reset 1s"},
				{500 * ms, count(5), "110", "0/5 retry 500ms"},
				{s, nil, "111110", "0/5 retry 1s"},
			},
		},
		{
			// D04
			"lowered below what is free, and raised", interval,
			[]overrideStep{
				{0, count(2), "110", "0/2 retry 5ms"},
				{5 * ms, nil, "110", "0/2 retry 5ms"},
				{500 * ms, nil, "110", "0/2 retry 5ms"},
				{505 * ms, count(7), "11111110", "0/7 retry 5ms"},
				{510 * ms, nil, "11111110", "0/7 retry 5ms"},
			},
		},
		{
			// D05
			"raised with the burst that was not said", limit(ratelimit.TokenBucket, 10, s),
			[]overrideStep{
				{0, nil, n("1", 10) + "0", "0/10 retry 100ms"},
				{2 * s, count(100), n("1", 100) + "0", "0/100 retry 10ms"},
			},
		},
		{
			// D05
			"raised, but for the burst that was said", burst,
			[]overrideStep{{0, count(1000), n("1", 100) + "0", "0/100 retry 1ms"}},
		},
		{
			// D07: the state of a token bucket is what was used
			"same rate, another burst: token bucket", limit(ratelimit.TokenBucket, 100, 10*s),
			[]overrideStep{{0, nil, n("1", 5), "95/100 reset 500ms"}, {0, count(10), "1", "4/10 reset 6s"}},
		},
		{
			// D07: that of a leaky bucket is a time
			"same rate, another burst: leaky bucket", limit(ratelimit.LeakyBucket, 100, 10*s),
			[]overrideStep{{0, nil, n("1", 5), "95/100 reset 500ms"}, {0, count(10), "1", "8/10 reset 1.5s"}},
		},
		{
			// D07
			"burst lowered below what was used: token bucket", limit(ratelimit.TokenBucket, 10, 10*s),
			[]overrideStep{{0, nil, n("1", 10), "0/10 reset 10s"}, {0, &ratelimit.Override{Burst: 2}, "0", "0/2 retry 1s"}},
		},
		{
			// D07
			"burst lowered below what was used: leaky bucket", limit(ratelimit.LeakyBucket, 10, 10*s),
			[]overrideStep{{0, nil, n("1", 10), "0/10 reset 10s"}, {0, &ratelimit.Override{Burst: 2}, "0", "0/2 retry 9s"}},
		},
		{
			// D08
			"one window after the other admits its count", limit(ratelimit.FixedWindow, 60, 920*ms),
			[]overrideStep{
				{0, nil, n("1", 60) + n("0", 32), "0/60 retry 920ms"},
				{920 * ms, count(30), n("1", 30) + n("0", 62), "0/30 retry 920ms"},
				{1840 * ms, count(60), n("1", 60) + n("0", 32), "0/60 retry 920ms"},
				{2760 * ms, nil, n("1", 60) + n("0", 32), "0/60 retry 920ms"},
				{3680 * ms, nil, n("1", 60) + n("0", 32), "0/60 retry 920ms"},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				limiter := newLimiter(t, memlimit.New())
				guard := limiter.Guard("m", ratelimit.Rule{Key: "k", Name: "n", Limit: tt.limit})
				began := time.Now()
				for i, step := range tt.steps {
					time.Sleep(step.at - time.Since(began))
					if step.override != nil {
						override(t, limiter, overrides("m#n", *step.override))
					}
					var seen standing
					for range step.want {
						_ = guard.Allow(ratelimit.WithRecorder(t.Context(), &seen))
					}
					if seen.outcomes != step.want || seen.last != step.last {
						t.Errorf("step %d: %s, %s\nwant %s, %s", i, seen.outcomes, seen.last, step.want, step.last)
					}
				}
			})
		})
	}
}

// standing records what became of calls, and how their limit stands after the last of them.
type standing struct{ outcomes, last string }

func (s *standing) Record(_ string, outcomes []ratelimit.Outcome) {
	r := outcomes[0].Result
	if r.Allowed {
		s.outcomes += "1"
		s.last = fmt.Sprintf("%d/%d reset %v", r.Remaining, r.Limit, r.ResetAfter)
	} else {
		s.outcomes += "0"
		s.last = fmt.Sprintf("%d/%d retry %v", r.Remaining, r.Limit, r.RetryAfter)
	}
}
