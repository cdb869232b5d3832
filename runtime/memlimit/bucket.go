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
}

// limit is a ratelimit.Limit in the units of the arithmetic. It is valid.
type limit struct {
	algorithm ratelimit.Algorithm
	refill    ratelimit.Refill
	count     int64
	period    int64 // microseconds
	capacity  int64
}

func limitOf(l *ratelimit.Limit) limit {
	return limit{
		algorithm: l.Algorithm,
		refill:    l.Refill,
		count:     l.Count,
		period:    l.Period.Microseconds(),
		capacity:  l.Capacity(),
	}
}

// never is the wait for what no wait can help.
const never int64 = -1

// at returns the bucket, of which b was kept, as it stands at the time now, which is not before that. A bucket that is
// over its limit must be kept as it is returned, or nothing comes back until it would no longer be.
func (b bucket) at(now int64, l *limit) (_ bucket, over bool) {
	switch l.algorithm {
	case ratelimit.TokenBucket:
		b = b.refilled(now, l)
	case ratelimit.FixedWindow:
		b = b.inWindow(now, l)
	case ratelimit.SlidingWindow:
		b = b.slid(now, l)
	case ratelimit.LeakyBucket:
		b, over = b.drained(now, l)
	}
	if b.used <= 0 {
		return bucket{mark: now}, false
	}
	return b, over
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
	case ratelimit.SlidingWindow:
		return b.slideWait(n, now, l)
	}
	return b.refillWait(n, now, l)
}

// refundable returns how many of the used units a refund may give back.
func (b bucket) refundable(l *limit) int64 {
	if l.algorithm == ratelimit.SlidingWindow {
		return b.current(l)
	}
	return b.used
}

// retry returns the microseconds after which a charge of cost would be admitted: 0 now, or never.
func (b bucket) retry(cost, now int64, l *limit) int64 {
	if cost > l.capacity {
		return never
	}
	lacking := b.used + cost - l.capacity
	if cost == 0 || lacking <= 0 {
		return 0
	}
	return b.wait(lacking, now, l)
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
