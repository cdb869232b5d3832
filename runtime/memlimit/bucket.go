package memlimit

import (
	"math/bits"

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
	count     int64
	period    int64 // microseconds
	capacity  int64
	patience  int64 // microseconds that the caller would wait for its turn
}

func limitOf(c *ratelimit.Charge) limit {
	return limit{
		algorithm: c.Limit.Algorithm,
		refill:    c.Limit.Refill,
		count:     c.Limit.Count,
		period:    c.Limit.Period.Microseconds(),
		capacity:  c.Limit.Capacity(),
		patience:  c.Wait.Microseconds(),
	}
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
	switch l.algorithm {
	case ratelimit.SlidingLog:
		return b.logged(c.Cost, now, l)
	case ratelimit.Concurrency:
		return b.leased(c.Holder, c.Cost, now+l.period)
	}
	b.used += c.Cost
	return b
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
	switch l.algorithm {
	case ratelimit.SlidingWindow:
		b.used = b.current(l)
	case ratelimit.LeakyBucket:
		return b.arrival(now, l)
	}
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

// decide returns the microseconds after which a charge would be admitted: 0 now, or never. One that is admitted now may
// have to wait for its turn.
func (b bucket) decide(c *ratelimit.Charge, now int64, l *limit) (retry, delay int64) {
	if c.Cost > l.capacity {
		return never, 0
	}
	lacking := b.used + c.Cost - l.capacity
	if c.Cost == 0 || lacking <= 0 {
		return 0, 0
	}
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

// muldiv returns the quotient and the remainder of a × b / c. None is negative, c is not 0 and the quotient is below
// 2^63.
func muldiv(a, b, c int64) (quotient, rest int64) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	q, r := bits.Div64(hi, lo, uint64(c))
	return int64(q), int64(r)
}

// divup returns a / b, rounded up; b is positive.
func divup(a, b int64) int64 {
	q := a / b
	if a%b > 0 {
		q++
	}
	return q
}
