package ratelimittest

import (
	"math/big"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// out is a token bucket or a fixed window: units are out, and come back.
type out struct {
	state
	charge ratelimit.Charge
	future bool
	opened int64               // what was taken before is not among the units that are out
	wait   func(n int64) int64 // time until n of the units that are out have come back
}

func (b *out) left() int64     { return b.charge.Limit.Capacity() - b.used }
func (b *out) retry() int64    { return b.back(b.charge.Cost - b.left()) }
func (b *out) reset() int64    { return b.back(b.used) }
func (b *out) take()           { b.used += b.charge.Cost }
func (b *out) remember() state { return b.state }
func (b *out) ahead() bool     { return b.future }

func (b *out) refund(n, taken int64) {
	if taken >= b.opened {
		b.used = max(0, b.used-n)
	}
}

func (b *out) back(n int64) int64 {
	if n <= 0 {
		return 0
	}
	return b.wait(n)
}

// tokenBucket: used units were out at the time mark. Of a unit that was on its way back, part of the period had passed.
// Of a bucket that refills in intervals, mark is the start of one.
func tokenBucket(b state, c ratelimit.Charge, now int64) standing {
	future := b.mark > now
	b.mark = min(b.mark, now) // or the clock was set back
	count, elapsed, period := c.Limit.Count, now-b.mark, c.Limit.Period.Microseconds()
	used, all := rat(b.used, 1), rat(c.Limit.Capacity()+debt(c), 1)
	if c.Limit.Refill == ratelimit.Interval {
		used = minus(least(used, all), product(rat(elapsed/period, 1), rat(count, 1)))
		b.mark += elapsed / period * period
	} else {
		used = least(minus(used, rat(min(b.part, period-1), period)), all)
		used = minus(used, product(rat(elapsed, 1), rat(count, period)))
		b.mark = now
	}
	if used.Sign() <= 0 {
		b, used = state{mark: now}, new(big.Rat)
	}
	b.used = ceil(used)
	b.part = ceil(product(rat(period, 1), minus(rat(b.used, 1), used)))
	return &out{state: b, charge: c, future: future, wait: func(n int64) int64 {
		if c.Limit.Refill == ratelimit.Interval {
			return b.mark + ceil(rat(n, count))*period - now
		}
		return ceil(product(minus(rat(n, 1), rat(b.part, period)), rat(period, count)))
	}}
}

const (
	longestWait = 87600 * time.Hour // that a charge may have
	maxDebt     = 1_000_000_000     // units that can be charged in advance
)

// debt returns how many units more than its capacity can be out of a bucket: what comes back while callers wait, and
// what was on its way back before.
func debt(c ratelimit.Charge) int64 {
	wait, count, period := c.Wait.Microseconds(), c.Limit.Count, c.Limit.Period.Microseconds()
	switch {
	case wait == 0:
		return 0
	case c.Limit.Refill == ratelimit.Interval:
		return min(wait/period*count, maxDebt) + count
	}
	return min(floor(product(rat(wait, 1), rat(count, period))), maxDebt) + 1
}

// fixedWindow: used units were taken in the window that starts at mark.
func fixedWindow(b state, c ratelimit.Charge, now int64) standing {
	future := b.mark > now
	b.mark = min(b.mark, now)
	period := c.Limit.Period.Microseconds()
	if now-b.mark >= period {
		b = state{mark: now}
	}
	return &out{state: b, charge: c, future: future, opened: b.mark, wait: func(int64) int64 { return b.mark + period - now }}
}

// leaking is a leaky bucket: GCRA, with limit.Count cells a period.
type leaking struct {
	due    *big.Rat // the theoretical arrival time, from now on
	charge ratelimit.Charge
	now    int64
}

// leakyBucket: mark is the theoretical arrival time, rounded up, and part what was added for that, in 1/count.
func leakyBucket(b state, c ratelimit.Charge, now int64) standing {
	w := &leaking{charge: c, now: now}
	w.due = most(new(big.Rat), minus(rat(b.mark-now, 1), rat(min(b.part, c.Limit.Count-1), c.Limit.Count)))
	return w
}

// takes returns how long n units take to drain.
func (w *leaking) takes(n int64) *big.Rat {
	return product(rat(n, 1), rat(w.charge.Limit.Period.Microseconds(), w.charge.Limit.Count))
}

// after returns how far the theoretical arrival time would lie beyond the most that it may, after n units more.
func (w *leaking) after(n int64) *big.Rat {
	return minus(sum(w.due, w.takes(n)), w.takes(w.charge.Limit.Capacity()))
}

func (w *leaking) left() int64 {
	return -ceil(product(w.after(0), rat(w.charge.Limit.Count, w.charge.Limit.Period.Microseconds())))
}

func (w *leaking) retry() int64      { return ceil(w.after(w.charge.Cost)) }
func (w *leaking) reset() int64      { return ceil(w.due) }
func (w *leaking) take()             { w.due = sum(w.due, w.takes(w.charge.Cost)) }
func (w *leaking) refund(n, _ int64) { w.due = most(new(big.Rat), minus(w.due, w.takes(n))) }
func (w *leaking) ahead() bool       { return false }

func (w *leaking) remember() state {
	up := ceil(w.due)
	return state{mark: w.now + up, part: floor(product(minus(rat(up, 1), w.due), rat(w.charge.Limit.Count, 1)))}
}
