package redislimit

import (
	"sync/atomic"
	"time"
	"unsafe"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// denial is a call that was refused, and for how long it is certain to be. Nothing of it changes once it is known.
//
// Why it is certain: what a bucket holds becomes less only by time, as its RetryAfter says, or by a refund or reset. In a
// [ratelimit.TokenBucket] and a [ratelimit.LeakyBucket] it is the rate at which units come back, whoever takes some of
// them. A [ratelimit.FixedWindow] gives nothing back before it ends, and a [ratelimit.SlidingLog] nothing before the units
// that are in the way are a period old. What a [ratelimit.SlidingWindow] counts falls along lines that other calls can
// only raise. Redis decided no earlier than it was asked, so that RetryAfter ends no earlier than counted from then.
//
// What remains for a cost of 1 is 0 for as long: one unit left would have admitted it.
type denial struct {
	hash      uint64 // of the bucket at
	pace      *pace  // of the server's clock; with another one it is over
	at        int    // which of the charges refuses for longest
	asked     time.Duration
	ends      time.Duration // when the first of the limits that refuse may admit the call
	standings []standing    // by charge
	known     atomic.Bool   // whether calls may go by it
}

// standing is a charge and what its limit answered.
type standing struct {
	key, name string
	limit     ratelimit.Limit
	cost      int64
	result    ratelimit.Result
}

// certain returns which of the limits that refuse a call does so for longest, and for how long all of them certainly do:
// then it is another call, of which fewer refuse. It returns -1 if there is no certainty.
func certain(charges []ratelimit.Charge, results []ratelimit.Result) (at int, lasts time.Duration) {
	at, lasts = -1, longestDenied
	for i := range charges {
		c, r := &charges[i], &results[i]
		switch {
		case c.Fresh || c.Wait > 0: // who waits may give up
			return -1, 0
		case r.Allowed:
			continue
		case c.Limit.Algorithm == ratelimit.Concurrency || r.RetryAfter == ratelimit.Never:
			return -1, 0
		case at < 0 || r.RetryAfter > results[at].RetryAfter:
			at = i
		}
		lasts = min(lasts, r.RetryAfter)
	}
	return at, lasts
}

func newDenial(hash uint64, p *pace, asked, ends time.Duration, at int, charges []ratelimit.Charge, results []ratelimit.Result) *denial {
	e := &denial{hash: hash, pace: p, at: at, asked: asked, ends: ends, standings: make([]standing, len(charges))}
	for i, c := range charges {
		e.standings[i] = standing{string(c.Key), c.Name, c.Limit, c.Cost, results[i]}
	}
	return e
}

// sizeOf returns about how many bytes the denial of a call takes.
func sizeOf(charges []ratelimit.Charge) int {
	size := int(unsafe.Sizeof(denial{}))
	for i := range charges {
		size += int(unsafe.Sizeof(standing{})) + len(charges[i].Key) + len(charges[i].Name)
	}
	return size
}

// holds reports whether a call would be refused as this one was.
func (e *denial) holds(charges []ratelimit.Charge) bool {
	if len(charges) != len(e.standings) {
		return false
	}
	for i := range charges {
		if !e.standings[i].holds(&charges[i]) {
			return false
		}
	}
	return true
}

// holds reports whether the limit answers a charge as it did: one that refused does so if no less is asked of it.
func (s *standing) holds(c *ratelimit.Charge) bool {
	switch {
	case c.Fresh || c.Wait > 0 || c.Limit != s.limit || !s.isOf(c):
		return false
	case s.result.Allowed:
		return c.Cost <= max(s.cost, s.result.Remaining)
	}
	return c.Cost == s.cost || c.Cost > s.cost && c.Cost <= s.limit.Capacity()
}

// isOf reports whether a charge is of the same bucket.
func (s *standing) isOf(c *ratelimit.Charge) bool {
	return c.Limit.Algorithm == s.limit.Algorithm && c.Name == s.name && string(c.Key) == s.key
}

// replaces reports whether both are of the same buckets, under the same one.
func (e *denial) replaces(old *denial) bool {
	if e.hash != old.hash || e.at != old.at || len(e.standings) != len(old.standings) {
		return false
	}
	for i := range e.standings {
		a, b := &e.standings[i], &old.standings[i]
		if a.limit.Algorithm != b.limit.Algorithm || a.name != b.name || a.key != b.key {
			return false
		}
	}
	return true
}

// fill writes what the limits answer now. Times are whole microseconds, so that no RetryAfter becomes 0 before it has
// passed.
func (e *denial) fill(results []ratelimit.Result, now time.Duration) {
	since := (now - e.asked).Truncate(time.Microsecond)
	for i := range results {
		r := &results[i]
		*r = e.standings[i].result
		r.At += since
		r.ResetAfter = max(0, r.ResetAfter-since)
		if !r.Allowed {
			r.RetryAfter -= since
		}
	}
}
