package memlimit

import (
	"math/bits"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// bucket is the state of one. It holds no configuration, so that a changed limit holds from the next call and keeps what
// was used. As it stands at some time, a bucket with used 0 is as new; what is kept of it in between may look otherwise.
//
// What follows is what the scripts of package lua do in Redis, step by step, so that both give the same answer.
type bucket struct {
	used int64 // units taken that have not come back
	mark int64 // a time in microseconds of the store's clock; what of, the algorithm says
	part int64 // a remainder; what of, the algorithm says

	// What else there is, from the first unit on. It is one pointer, since four words are what the compiler keeps in
	// registers.
	detail *detail
}

// detail is the state of those algorithms that three numbers are not enough for. It is changed in place.
type detail struct {
	log    log     // of a sliding log
	leases *leases // of a concurrency limit
}

// limit is the ratelimit.Limit of a charge, and how far in advance that may be made, in the units of the arithmetic. It
// is valid.
type limit struct {
	algorithm ratelimit.Algorithm
	refill    ratelimit.Refill
	detailed  bool // whether its buckets have a detail
	count     int64
	period    int64 // microseconds
	capacity  int64
	patience  int64 // microseconds that the caller would wait for its turn
}

// limitOf returns a limit for calls that do not wait.
func limitOf(l *ratelimit.Limit) limit {
	return limit{
		algorithm: l.Algorithm,
		refill:    l.Refill,
		detailed:  detailed(l.Algorithm),
		count:     l.Count,
		period:    l.Period.Microseconds(),
		capacity:  l.Capacity(),
	}
}

// detailed reports whether the buckets of an algorithm have a detail.
func detailed(a ratelimit.Algorithm) bool {
	return a == ratelimit.SlidingLog || a == ratelimit.Concurrency
}

// never is the wait for what no wait can help.
const never int64 = -1

// at returns the bucket, of which b was kept, as it stands at the time now, which is not before that.
func (b bucket) at(now int64, l *limit) bucket {
	switch l.algorithm {
	case ratelimit.TokenBucket:
		b = b.refilled(now, l)
	case ratelimit.FixedWindow:
		b = b.inWindow(now, l)
	case ratelimit.SlidingLog:
		b.used = b.detail.log.since(now - l.period)
	case ratelimit.SlidingWindow:
		b = b.slid(now, l)
	case ratelimit.LeakyBucket:
		b = b.drained(now, l)
	case ratelimit.Concurrency:
		b.used = b.detail.leases.at(now)
	}
	if b.used <= 0 {
		return bucket{mark: now, detail: b.detail}
	}
	return b
}

// charged returns the bucket with what an admitted charge takes.
func (b bucket) charged(c *ratelimit.Charge, now int64, l *limit) bucket {
	if l.detailed {
		return b.noted(c, now, l)
	}
	b.used += c.Cost
	return b
}

// noted is charged for what has a detail.
func (b bucket) noted(c *ratelimit.Charge, now int64, l *limit) bucket {
	if l.algorithm == ratelimit.SlidingLog {
		return b.logged(c.Cost, now, l)
	}
	return b.leased(c.Holder, c.Cost, now+l.period)
}

// refunded returns the bucket with what a charge gives back, and whether it could: a holder may have lost all that it held.
func (b bucket) refunded(c *ratelimit.Charge, now int64, l *limit) (_ bucket, held bool) {
	cost, taken := c.Cost, now
	if c.Taken > 0 {
		taken = min(c.Taken.Microseconds(), now)
	}
	switch l.algorithm {
	case ratelimit.TokenBucket, ratelimit.LeakyBucket:
		if c.Delay > 0 {
			cost = max(0, cost-b.behind(c.Delay.Microseconds(), now, l))
		}
	case ratelimit.FixedWindow:
		if taken < b.mark { // in a window that is over
			return b, true
		}
	case ratelimit.SlidingLog:
		return b.unlogged(min(cost, b.used), taken, now, l), true
	case ratelimit.SlidingWindow:
		return b.unslid(cost, taken, l), true
	case ratelimit.Concurrency:
		return b.released(c.Holder, cost)
	}
	b.used -= min(cost, b.used)
	return b, true
}

// kept returns what to keep of a bucket that is as of now.
func (b bucket) kept(now int64, l *limit) bucket {
	if l.algorithm == ratelimit.SlidingWindow || l.algorithm == ratelimit.LeakyBucket {
		return b.packed(now, l)
	}
	return b
}

// packed is kept for what is kept otherwise than it is reckoned with.
func (b bucket) packed(now int64, l *limit) bucket {
	if l.algorithm == ratelimit.LeakyBucket {
		return b.arrival(now, l)
	}
	b.used = b.current(l)
	return b
}

// wait returns the microseconds until n of the used units have come back; n is from 1 to used.
func (b bucket) wait(n, now int64, l *limit) int64 {
	switch l.algorithm {
	case ratelimit.FixedWindow:
		return b.windowEnd(now, l)
	case ratelimit.SlidingLog:
		return b.logWait(n, now, l)
	case ratelimit.SlidingWindow:
		return b.slideWait(n, now, l)
	case ratelimit.Concurrency:
		return b.detail.leases.root.prev.ends - now // of all that are used: nothing asks for fewer
	}
	return b.refillWait(n, now, l)
}

// has reports whether a bucket has what a charge wants of it.
func (b bucket) has(cost int64, l *limit) bool { return cost <= l.capacity-b.used }

// decide returns the microseconds after which a charge would be admitted: 0 now, or never. One that is admitted now may
// have to wait for its turn.
func (b bucket) decide(c *ratelimit.Charge, now int64, l *limit) (retry, delay int64) {
	switch {
	case c.Cost > l.capacity:
		return never, 0
	case c.Cost == 0 || b.has(c.Cost, l):
		return 0, 0
	}
	lacking := b.used + c.Cost - l.capacity
	if l.algorithm == ratelimit.Concurrency {
		return b.slotWait(c.Holder, c.Cost, lacking, now), 0
	}
	wait := b.wait(lacking, now, l)
	if wait <= l.patience {
		return 0, wait
	}
	return wait - l.patience, 0
}

// reset returns the microseconds until the bucket is as new.
func (b bucket) reset(now int64, l *limit) int64 {
	if b.used == 0 {
		return 0
	}
	return b.wait(b.used, now, l)
}

// tell fills in what a call is told of a bucket as it leaves it. It writes where that goes: to copy a Result that was just
// written takes longer than to make it.
func (b bucket) tell(r *ratelimit.Result, retry, delay, reset, now int64, l *limit) {
	r.Allowed = retry == 0
	r.Limit = l.capacity
	r.Remaining = max(0, l.capacity-b.used)
	r.RetryAfter = time.Duration(retry) * time.Microsecond
	if retry == never {
		r.RetryAfter = ratelimit.Never
	}
	r.ResetAfter = time.Duration(reset) * time.Microsecond
	r.Delay = time.Duration(delay) * time.Microsecond
	r.At = time.Duration(now) * time.Microsecond
}

// muldiv returns the quotient and the remainder of a × b / c. None is negative, c is not 0 and the quotient is below
// 2^63.
func muldiv(a, b, c int64) (quotient, rest int64) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi == 0 && lo < uint64(c) { // of a bucket that is in use, mostly
		return 0, int64(lo)
	}
	q, r := bits.Div64(hi, lo, uint64(c))
	return int64(q), int64(r)
}

// muldivup returns (a × b - less) / c rounded up, and what was added for that, in 1/c. None is negative, nor is the
// difference, c is not 0 and the quotient is below 2^63.
func muldivup(a, b, less, c int64) (quotient, added int64) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	lo, borrow := bits.Sub64(lo, uint64(less), 0)
	hi -= borrow
	lo, carry := bits.Add64(lo, uint64(c-1), 0)
	q, r := bits.Div64(hi+carry, lo, uint64(c))
	return int64(q), c - 1 - int64(r)
}

// divup returns a / b, rounded up; b is positive.
func divup(a, b int64) int64 {
	q := a / b
	if a%b > 0 {
		q++
	}
	return q
}
