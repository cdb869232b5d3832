package ratelimittest

import (
	"math/big"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// standing is a bucket as it stands at the model's time.
type standing interface {
	left() int64         // units that are left; below 0 after the limit was lowered
	retry(n int64) int64 // time until n units, no more than the capacity, would be admitted; 0 or less if they are now
	reset() int64        // time until the bucket is as new; 0 if it is
	take(n int64)
	refund(n int64)
	remember() state
	ahead() bool // whether its state lies, or seems to lie, in the future, from where a refused call takes it to the present
}

// state is what is remembered of a bucket: three numbers, of which the functions below say what they are.
type state struct{ used, part, mark int64 }

// standings say how a bucket of a state stands under a limit at the time now.
var standings = map[ratelimit.Algorithm]func(b state, l ratelimit.Limit, now int64) standing{
	ratelimit.TokenBucket:   tokenBucket,
	ratelimit.FixedWindow:   fixedWindow,
	ratelimit.SlidingWindow: slidingWindow,
	ratelimit.LeakyBucket:   leakyBucket,
}

// out is a token bucket or a fixed window: units are out, and come back.
type out struct {
	state
	capacity int64
	future   bool
	wait     func(n int64) int64 // time until n of the units that are out have come back
}

func (b *out) left() int64         { return b.capacity - b.used }
func (b *out) retry(n int64) int64 { return b.back(b.used + n - b.capacity) }
func (b *out) reset() int64        { return b.back(b.used) }
func (b *out) take(n int64)        { b.used += n }
func (b *out) refund(n int64)      { b.used = max(0, b.used-n) }
func (b *out) remember() state     { return b.state }
func (b *out) ahead() bool         { return b.future }

func (b *out) back(n int64) int64 {
	if n <= 0 {
		return 0
	}
	return b.wait(n)
}

// tokenBucket: used units were out at the time mark. Of a unit that was on its way back, part of the period had passed.
// Of a bucket that refills in intervals, mark is the start of one.
func tokenBucket(b state, l ratelimit.Limit, now int64) standing {
	future := b.mark > now
	b.mark = min(b.mark, now) // or the clock was set back
	elapsed, period := now-b.mark, l.Period.Microseconds()
	used := rat(b.used, 1)
	if l.Refill == ratelimit.Interval {
		used = minus(least(used, rat(l.Capacity(), 1)), product(rat(elapsed/period, 1), rat(l.Count, 1)))
		b.mark += elapsed / period * period
	} else {
		used = least(minus(used, rat(min(b.part, period-1), period)), rat(l.Capacity(), 1))
		used = minus(used, product(rat(elapsed, 1), rat(l.Count, period)))
		b.mark = now
	}
	if used.Sign() <= 0 {
		b, used = state{mark: now}, new(big.Rat)
	}
	b.used = ceil(used)
	b.part = ceil(product(rat(period, 1), minus(rat(b.used, 1), used)))
	return &out{b, l.Capacity(), future, func(n int64) int64 {
		if l.Refill == ratelimit.Interval {
			return b.mark + ceil(rat(n, l.Count))*period - now
		}
		return ceil(product(minus(rat(n, 1), rat(b.part, period)), rat(period, l.Count)))
	}}
}

// fixedWindow: used units were taken in the window that starts at mark.
func fixedWindow(b state, l ratelimit.Limit, now int64) standing {
	future := b.mark > now
	b.mark = min(b.mark, now)
	period := l.Period.Microseconds()
	if now-b.mark >= period {
		b = state{mark: now}
	}
	return &out{b, l.Count, future, func(int64) int64 { return b.mark + period - now }}
}

// sliding is a sliding window.
type sliding struct {
	current, previous int64 // units of the two windows
	count, period     int64
	now, elapsed      int64 // elapsed of the current window
	future            bool
}

// slidingWindow: at the time mark, used units were those of the window that mark lies in and part those of the one
// before.
func slidingWindow(b state, l ratelimit.Limit, now int64) standing {
	period := l.Period.Microseconds()
	w := &sliding{count: l.Count, period: period, now: now, elapsed: now % period, future: b.mark > now}
	switch start := now - w.elapsed; {
	case b.mark >= start:
		w.current, w.previous = b.used, b.part
	case b.mark >= start-period:
		w.previous = b.used
	}
	return w
}

func (w *sliding) left() int64 {
	weighted := product(rat(w.previous, 1), rat(w.period-w.elapsed, w.period))
	return floor(minus(rat(w.count-w.current, 1), weighted))
}

func (w *sliding) retry(n int64) int64 {
	if w.current+n <= w.count {
		return w.fades(w.previous, w.count-w.current-n) - w.elapsed
	}
	return w.period - w.elapsed + w.fades(w.current, w.count-n)
}

// fades returns the time into a window from which on, of units of the window before, no more than weight are counted.
func (w *sliding) fades(units, weight int64) int64 {
	if units <= weight {
		return 0
	}
	return ceil(product(rat(w.period, 1), rat(units-weight, units)))
}

func (w *sliding) reset() int64 {
	switch {
	case w.current > 0:
		return 2*w.period - w.elapsed
	case w.previous > 0:
		return w.period - w.elapsed
	}
	return 0
}

func (w *sliding) take(n int64)    { w.current += n }
func (w *sliding) refund(n int64)  { w.current = max(0, w.current-n) }
func (w *sliding) remember() state { return state{used: w.current, part: w.previous, mark: w.now} }
func (w *sliding) ahead() bool     { return w.future }

// leaking is a leaky bucket: GCRA, with limit.Count cells a period.
type leaking struct {
	due      *big.Rat // the theoretical arrival time, from now on
	capacity *big.Rat // the most that due may be after a call
	limit    ratelimit.Limit
	now      int64
	over     bool
}

// leakyBucket: mark is the theoretical arrival time, rounded up, and part what was added for that, in 1/count.
func leakyBucket(b state, l ratelimit.Limit, now int64) standing {
	w := &leaking{limit: l, now: now}
	w.capacity = w.takes(l.Capacity())
	w.due = most(new(big.Rat), minus(rat(b.mark-now, 1), rat(min(b.part, l.Count-1), l.Count)))
	if w.due.Cmp(w.capacity) > 0 {
		w.due, w.over = w.capacity, true
	}
	return w
}

// takes returns how long n units take to drain.
func (w *leaking) takes(n int64) *big.Rat {
	return product(rat(n, 1), rat(w.limit.Period.Microseconds(), w.limit.Count))
}

func (w *leaking) left() int64 {
	return floor(product(minus(w.capacity, w.due), rat(w.limit.Count, w.limit.Period.Microseconds())))
}

func (w *leaking) retry(n int64) int64 { return ceil(minus(sum(w.due, w.takes(n)), w.capacity)) }
func (w *leaking) reset() int64        { return ceil(w.due) }
func (w *leaking) take(n int64)        { w.due = sum(w.due, w.takes(n)) }
func (w *leaking) refund(n int64)      { w.due = most(new(big.Rat), minus(w.due, w.takes(n))) }
func (w *leaking) ahead() bool         { return w.over }

func (w *leaking) remember() state {
	up := ceil(w.due)
	return state{mark: w.now + up, part: floor(product(minus(rat(up, 1), w.due), rat(w.limit.Count, 1)))}
}

func rat(a, b int64) *big.Rat { return big.NewRat(a, b) }

func sum(a, b *big.Rat) *big.Rat     { return new(big.Rat).Add(a, b) }
func minus(a, b *big.Rat) *big.Rat   { return new(big.Rat).Sub(a, b) }
func product(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }

func least(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) <= 0 {
		return a
	}
	return b
}

func most(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) >= 0 {
		return a
	}
	return b
}

// ceil returns a number, rounded up.
func ceil(r *big.Rat) int64 {
	up := new(big.Int).Sub(r.Denom(), big.NewInt(1))
	return new(big.Int).Div(up.Add(up, r.Num()), r.Denom()).Int64()
}

// floor returns a number, rounded down.
func floor(r *big.Rat) int64 { return -ceil(new(big.Rat).Neg(r)) }
