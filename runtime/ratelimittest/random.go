package ratelimittest

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// direction is where a clock may go.
type direction bool

const (
	forwards        direction = false
	forwardsAndBack direction = true
)

const (
	// start is the model's time at the start of a trace: 2050, or so. Stores are brought there first, and from then on
	// agree with the model on where the windows lie that follow each other from 1970 on.
	start = 80 * int64(365*24*time.Hour/time.Microsecond)
	// maxSpan bounds how far the time of a trace goes from its start, so that no Store's clock overflows: it still counts
	// after maxSpan and the hundred years of the slowest limit, 285 years after 1970.
	maxSpan = 90 * 365 * 24 * time.Hour
	// grace is how long a Store may remember a bucket that is as new, as Redis does, which counts in milliseconds.
	// It can show only when the limit has changed meanwhile, and there the traces do not go.
	grace = 4 * time.Millisecond
)

// action is one call of a trace, after a pause, with the answers of the model.
type action struct {
	pause   time.Duration
	do      string
	charges []ratelimit.Charge
	want    []ratelimit.Result
}

// agree runs traces of random calls against the model first and then against a store. The number of traces is that of
// the flag -rapid.checks.
func agree(t *testing.T, newStore func(t *testing.T, test Test), d direction) {
	rapid.Check(t, func(rt *rapid.T) {
		trace := drawTrace(rt, d)
		fault := "newStore did not run the test"
		newStore(t, func(t *testing.T, store ratelimit.Store, advance func(time.Duration)) {
			fault = replay(t, trace, store, advance)
		})
		if fault != "" {
			rt.Fatal(fault)
		}
	})
}

// replay returns what went wrong, or nothing.
func replay(t *testing.T, trace []action, store ratelimit.Store, advance func(time.Duration)) string {
	t.Helper()
	advance(micros(start - clock(t, store)))
	for i, a := range trace {
		if a.pause != 0 {
			advance(a.pause)
		}
		got := make([]ratelimit.Result, len(a.charges))
		if err := perform(t, store, a.do, a.charges, got); err != nil {
			return fmt.Sprintf("%s\nerror: %v", history(trace[:i+1]), err)
		}
		for j := range a.want {
			if got[j] != a.want[j] {
				return fmt.Sprintf("%s\ncharge %d:\n got %s\nwant %s", history(trace[:i+1]), j, show(got[j]), show(a.want[j]))
			}
		}
	}
	return ""
}

func history(trace []action) string {
	var b strings.Builder
	for _, a := range trace {
		fmt.Fprintf(&b, "\nafter %v %s", a.pause, a.do)
		for _, c := range a.charges {
			fmt.Fprintf(&b, " [%s/%s cost %d of %+v]", c.Key, c.Name, c.Cost, c.Limit)
		}
	}
	return b.String()
}

// drawTrace draws calls on few buckets with few limits, so that they meet, and with the costs and pauses at which an
// answer changes.
func drawTrace(rt *rapid.T, d direction) []action {
	m := &model{now: start, buckets: map[bucketName]remembered{}}
	limits := rapid.SliceOfN(drawLimit(), 1, 3).Draw(rt, "limits")
	var trace []action
	last := ratelimit.Result{}
	for range rapid.IntRange(1, 200).Draw(rt, "calls") {
		a := action{pause: drawPause(rt, m, limits, last, d)}
		m.now += a.pause.Microseconds()
		m.forget()
		a.do = rapid.SampledFrom([]string{"take", "take", "take", "take", "take", "take", "peek", "peek", "refund", "refund", "reset"}).Draw(rt, "do")
		a.charges = drawCharges(rt, m, limits)
		switch a.do {
		case "take":
			a.want = m.take(a.charges)
			checkRetry(rt, m, a)
		case "peek":
			a.want = m.peek(a.charges)
		case "refund":
			m.refund(a.charges)
		case "reset":
			m.reset(a.charges)
		}
		if a.want != nil {
			last = a.want[0]
		}
		trace = append(trace, a)
	}
	return trace
}

// forget removes the buckets that no Store remembers.
func (m *model) forget() {
	maps.DeleteFunc(m.buckets, func(_ bucketName, b remembered) bool { return m.now >= b.full+grace.Microseconds() })
}

func drawLimit() *rapid.Generator[ratelimit.Limit] {
	number := rapid.OneOf(
		rapid.SampledFrom([]int64{1, 2, 3, 7, 10, 1000, 65535, 1_000_000, 999_999_999, 1_000_000_000}),
		rapid.Int64Range(1, 100),
		rapid.Int64Range(1, 1_000_000_000),
	)
	period := rapid.OneOf(
		rapid.SampledFrom([]time.Duration{ms, s, 13 * s, time.Minute, h, 24 * h, 366 * 24 * h, 87600 * h}),
		rapid.Map(rapid.Int64Range(1000, 10_000_000), micros),
		rapid.Map(rapid.Int64Range(1000, 315_360_000_000_000), micros),
	)
	return rapid.Custom(func(rt *rapid.T) ratelimit.Limit {
		l := ratelimit.Limit{Count: number.Draw(rt, "count"), Period: period.Draw(rt, "period")}
		switch rapid.IntRange(0, 7).Draw(rt, "kind") {
		case 0:
			l.Algorithm = ratelimit.FixedWindow
			return l
		case 1, 2:
			l.Algorithm = ratelimit.SlidingWindow
			return l
		case 3, 4:
			l.Algorithm = ratelimit.LeakyBucket
		case 5:
			l.Refill = ratelimit.Interval
		}
		if rapid.Bool().Draw(rt, "has burst") {
			l.Burst = number.Draw(rt, "burst")
		}
		return l
	}).Filter(func(l ratelimit.Limit) bool { return l.Validate() == nil })
}

func micros(n int64) time.Duration { return time.Duration(n) * us }

// drawPause draws a time to the next call, preferably one at which something happens.
func drawPause(rt *rapid.T, m *model, limits []ratelimit.Limit, last ratelimit.Result, d direction) time.Duration {
	period := rapid.SampledFrom(limits).Draw(rt, "limit of the pause").Period
	var pause time.Duration
	switch rapid.IntRange(0, 11).Draw(rt, "pause") {
	default:
	case 4:
		pause = us
	case 5:
		pause = last.ResetAfter
	case 6:
		pause = last.RetryAfter
	case 7:
		pause = last.RetryAfter - us
	case 8:
		pause = period
	case 9:
		pause = period / 3
	case 10:
		pause = micros(rapid.Int64Range(0, 2*period.Microseconds()).Draw(rt, "microseconds"))
	case 11:
		pause = rapid.SampledFrom([]time.Duration{ms, s, h, 87600 * h}).Draw(rt, "long pause")
	}
	if pause < 0 || pause > maxSpan {
		pause = 0
	}
	if d == forwardsAndBack && rapid.IntRange(0, 4).Draw(rt, "back") == 0 {
		pause = -pause
		for _, b := range m.buckets {
			if m.now >= b.full { // a Store may or may not have forgotten it, and neither shows unless time goes back
				pause = 0
			}
		}
	}
	if then := micros(m.now-start) + pause; then > maxSpan || then < -maxSpan/10 {
		return 0
	}
	return pause.Truncate(us)
}

// drawCharges draws charges of different buckets.
func drawCharges(rt *rapid.T, m *model, limits []ratelimit.Limit) []ratelimit.Charge {
	names := [][2]string{{"a", "x"}, {"a", "y"}, {"b", "x"}}
	set := rapid.SampledFrom([]int{1, 1, 1, 1, 2, 4, 3, 5, 7}).Draw(rt, "buckets")
	var charges []ratelimit.Charge
	for i, n := range names {
		if set>>i&1 == 0 {
			continue
		}
		c := ratelimit.Charge{Key: []byte(n[0]), Name: n[1], Limit: rapid.SampledFrom(limits).Draw(rt, "limit")}
		if b, ok := m.buckets[nameOf(c)]; ok && m.now >= b.full { // not yet forgotten by all
			c.Limit = b.by
		}
		c.Cost = drawCost(rt, m, c)
		charges = append(charges, c)
	}
	return charges
}

func drawCost(rt *rapid.T, m *model, c ratelimit.Charge) int64 {
	capacity := c.Limit.Capacity()
	left := max(0, m.open(c).left())
	switch rapid.IntRange(0, 9).Draw(rt, "cost") {
	default:
		return 1
	case 3:
		return 0
	case 4:
		return left
	case 5:
		return left + 1
	case 6:
		return capacity - left
	case 7:
		return rapid.Int64Range(1, capacity).Draw(rt, "units")
	case 8:
		return capacity
	case 9:
		return rapid.SampledFrom([]int64{capacity + 1, math.MaxInt64}).Draw(rt, "too much")
	}
}

// checkRetry checks that the model keeps the promise of RetryAfter: a refused call that waits as long as the longest of
// its limits says is allowed, and one microsecond earlier it is not.
func checkRetry(rt *rapid.T, m *model, a action) {
	var retry time.Duration
	for _, r := range a.want {
		retry = max(retry, r.RetryAfter)
	}
	if retry == 0 || retry == ratelimit.Never {
		return
	}
	now := m.now
	defer func() { m.now = now }()
	for _, early := range []int64{0, 1} {
		m.now = now + retry.Microseconds() - early
		allowed := true
		for _, r := range m.peek(a.charges) {
			allowed = allowed && r.Allowed
		}
		if allowed != (early == 0) {
			rt.Fatalf("%s: allowed %v after %v less %dµs", history([]action{a}), allowed, retry, early)
		}
	}
}
