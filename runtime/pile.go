package ratelimit

import (
	"math/bits"
	"time"
)

// pile is what lies in this process of the units of one bucket. Its times are of the stock's clock, unless they are said to
// be of the store's.
//
// Nothing that lies here may outlast what a refund of it would bring, or others could take it, too. Units of a window, or of
// a bucket that refills in intervals, end with that. The others come back to their bucket one by one while they lie here, and
// whose they are is not written anywhere. There are two ways to be sure that no more lies anywhere than is still out:
//
//   - Those here are no more than what a bucket would still have out that only this process takes from. Each process counts
//     all that comes back as its own, so that it is enough, whoever gives back what and when.
//   - What comes back is what was taken first. Then those here last until the bucket is as new, as it was when they were taken:
//     much longer, if others use it, too. But what others give back of what they took before makes that earlier, by no more
//     than may lie elsewhere, see [Instances].
type pile struct {
	bucket Charge // names it; its Key is its own, its Cost means nothing
	units  int64  // that no call has used yet
	until  time.Duration
	latest time.Duration // when a call that was answered asked, the last of them
	own    time.Duration // until when a bucket would have units out that only this process takes from, one by one
	window time.Duration // by the store's clock, the end of the window or interval that they are of; 0 if none is known
	used   int64         // units that calls have used since the last that took what it wanted
	since  time.Duration // when that asked

	last  Result        // what the store has answered last
	asked time.Duration // when it was asked that, or just before
	room  int64         // what the store had left then, as far as that is still known
	took  time.Duration // how long an answer took
	blind bool          // the store does not tell its time, by which one window is told from the next

	refill  *refill       // that is on its way; nil if none is
	calls   int           // that are on their way with it: it must be kept for them
	pledged int64         // units that these may yet put here
	touched time.Duration // when it was called for last
}

// oneByOne reports whether the units of a bucket come back one after the other.
func (l *Limit) oneByOne() bool { return algorithms[l.Algorithm].burst && l.Refill == Greedy }

// timeOf returns the time in which n units come back one by one, rounded down.
func (l *Limit) timeOf(n int64) time.Duration {
	hi, lo := bits.Mul64(uint64(n), uint64(l.Period))
	d, _ := bits.Div64(hi, lo, uint64(l.Count)) // at most maxRefill, as [Limit.Validate] has seen
	return time.Duration(d)
}

// unitsIn returns how many units come back one by one in a time that is not negative, or the capacity if that is less.
func (l *Limit) unitsIn(d time.Duration) int64 {
	hi, lo := bits.Mul64(uint64(d), uint64(l.Count))
	if hi >= uint64(l.Period) {
		return l.Capacity()
	}
	n, _ := bits.Div64(hi, lo, uint64(l.Period))
	return int64(min(n, uint64(l.Capacity())))
}

// expire drops what has ended by now.
func (p *pile) expire(now time.Duration) {
	l := &p.bucket.Limit
	switch left := p.until - now; {
	case left <= 0:
		p.units = 0
		if p.window > 0 { // it is over
			p.window, p.room = 0, l.Capacity()
		}
	case p.units > 0 && l.oneByOne():
		p.units = min(p.units, l.unitsIn(left))
	}
}

// learn notes what the store has answered to a charge of which it took that many units, of which some are to lie here, and
// reports whether they may: another answer may have told of a later window meanwhile. Answers may come in another order than the
// calls were made.
func (p *pile) learn(taken, surplus int64, asked time.Duration, r *Result, elsewhere int64) bool {
	l := &p.bucket.Limit
	decided := asked - time.Microsecond // or later: the store's clock does not tell the parts of a microsecond
	if l.oneByOne() {
		if asked < p.latest { // some of it may have come back before what was taken after it: it counts alone
			p.own = max(p.own, decided+l.timeOf(taken))
		} else {
			p.own = max(p.own, decided) + l.timeOf(taken)
		}
		p.latest = max(p.latest, asked)
		if surplus > 0 {
			p.until = 0
			if p.units == 0 && p.pledged == 0 && elsewhere > 0 { // or some of those here were taken before
				p.until = decided + r.ResetAfter - time.Microsecond - l.timeOf(elsewhere) - 1 // all of it rounded down
			}
		}
		p.until = max(p.until, p.own)
	} else {
		left := r.ResetAfter
		if l.Refill == Interval {
			left -= time.Duration(l.refills(r.Limit-r.Remaining)-1) * l.Period
		}
		p.blind = r.At == 0
		switch window := r.At + left; {
		case p.blind && surplus > 0: // the first, and the only one
			p.units, p.until = 0, 0
		case p.blind:
			left = 0
		case window < p.window:
			return false
		case window > p.window:
			p.units, p.window, p.until = 0, window, 0
		}
		p.until = max(p.until, decided+left)
	}
	if asked >= p.asked {
		p.last, p.asked, p.room = *r, asked, r.Remaining
	}
	p.units += surplus
	return true
}

// refills returns in how many intervals so many units come back, at least one.
func (l *Limit) refills(out int64) int64 { return max(0, out-1)/l.Count + 1 }

// want returns how many units to ask of the store for a call that lacks some. That is all that may lie here, as far as there
// are so many, and as they would not have come back to the bucket before the answer does. But of a bucket that has less than
// half left, and whose units come back one by one, what nobody uses here in time would be lacking elsewhere: so it is no more
// than twice what was of use the last time; and where units end as fast as they come back, just what is lacking, unless calls
// use them faster.
func (p *pile) want(c *Charge, lacking int64, now time.Duration) int64 {
	l := &p.bucket.Limit
	n := min(c.prefetch, p.room, lacking+c.prefetch-p.pledged)
	if p.blind {
		return lacking
	}
	if l.oneByOne() && 2*p.room < l.Capacity() {
		n = min(n, 2*p.used)
		if c.elsewhere == 0 && p.used <= l.unitsIn(now-p.since) {
			return lacking
		}
	}
	if n = max(n, lacking); l.oneByOne() && c.elsewhere == 0 && max(p.own, now)+l.timeOf(n) <= now+p.took {
		return lacking
	}
	return n
}

// spend takes units of the pile for a call.
func (p *pile) spend(n int64) { p.units, p.used = p.units-n, p.used+n }

// result is the answer to a call that the pile has served: that of the store if nobody else had called, and if what lies here
// were still there.
func (p *pile) result(now time.Duration) Result {
	l := &p.bucket.Limit
	elapsed := (now - p.asked).Truncate(time.Microsecond)
	out := l.Capacity() - p.last.Remaining
	left := p.last.ResetAfter - elapsed
	switch {
	case l.oneByOne():
		left = max(0, left-l.timeOf(p.units)).Truncate(time.Microsecond)
		out = 0
		if left > 0 {
			out = l.unitsIn(left-time.Microsecond) + 1 // the store has rounded up
		}
	case l.Refill == Interval:
		left -= time.Duration(l.refills(out)-l.refills(out-p.units)) * l.Period
		out -= p.units
	default:
		out -= p.units
	}
	return Result{
		Allowed:    true,
		Limit:      l.Capacity(),
		Remaining:  max(0, l.Capacity()-max(0, out)),
		ResetAfter: max(0, left),
		At:         p.last.At + elapsed,
	}
}

// back is the charge that gives back to the bucket what lies here.
func (p *pile) back() Charge {
	c := p.bucket
	c.Cost, c.Taken = p.units, p.last.At
	return c
}

// forgo notes that units go back to the bucket, which then has so many fewer out.
func (p *pile) forgo(n int64) {
	if l := &p.bucket.Limit; n > 0 && l.oneByOne() {
		d := l.timeOf(n) + 1 // rounded up
		p.own, p.until = p.own-d, p.until-d
	}
}

// restock puts units of a call that gives them back on the pile, as far as they have not come back to the bucket by
// themselves, and returns how many are left over.
func (p *pile) restock(c *Charge, now time.Duration) (rest int64) {
	l := &p.bucket.Limit
	most := min(c.prefetch, l.Capacity())
	switch left := p.until - now; {
	case left <= 0:
		return c.Cost
	case l.oneByOne():
		most = min(most, l.unitsIn(left))
	case c.Taken < p.window-l.Period || c.Taken >= p.window: // of another window
		return c.Cost
	}
	n := min(c.Cost, max(0, most-p.units-p.pledged))
	p.units += n
	return c.Cost - n
}
