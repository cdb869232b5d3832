package memlimit

import ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"

// refilled returns a token bucket, e.g. RFC 2697 section 3, with the tokens that came back until now.
//
// Greedy: mark is when the bucket was last looked at, part is the progress to the next token in 1/period of a token.
// Interval: mark is the start of the period, part is 0.
//
// More tokens out than there are, after the capacity was lowered, are as many as there are: the bucket is empty, and
// no one waits longer than it takes to fill. Those who wait for their turn have taken some in advance.
func (b bucket) refilled(now int64, l *limit) bucket {
	if most := l.most(); b.used > most {
		b.used, b.part = most, 0
	}
	elapsed := now - b.mark
	if l.refill == ratelimit.Interval {
		periods := elapsed / l.period
		if periods > b.used { // Count is at least 1; the product below might overflow
			return bucket{}
		}
		return bucket{used: b.used - periods*l.count, mark: b.mark + periods*l.period}
	}
	back, part := muldiv(elapsed, l.count, l.period) // back <= elapsed, since count <= period
	part += min(b.part, l.period-1)                  // the period may have become shorter
	if part >= l.period {
		back, part = back+1, part-l.period
	}
	return bucket{used: b.used - back, mark: now, part: part}
}

// refillWait returns the microseconds until n tokens have come back to a token bucket, or units have drained from a leaky
// one, that is as of now.
func (b bucket) refillWait(n, now int64, l *limit) int64 {
	if l.refill == ratelimit.Interval {
		return divup(n, l.count)*l.period - (now - b.mark)
	}
	whole, rest := muldiv(l.period, n, l.count)
	return whole + divup(rest-b.part, l.count)
}

// most returns the most units that can be out: all that there are, and what those who wait for their turn can have taken
// in advance.
func (l *limit) most() int64 {
	if l.patience == 0 {
		return l.capacity
	}
	return l.capacity + l.advance()
}

func (l *limit) advance() int64 {
	if l.refill == ratelimit.Interval {
		return (l.patience/l.period + 1) * l.count
	}
	back, _ := muldiv(l.patience, l.count, l.period)
	return back + 1
}

// behind returns how many units those have taken that wait for longer than delay. Theirs are not given back with those of
// a call that no longer waits for its turn: they would have come later all the same, and so nobody comes too early.
func (b bucket) behind(delay, now int64, l *limit) int64 {
	var within int64 // units that come back in that time
	if l.refill == ratelimit.Interval {
		within = (now - b.mark + delay) / l.period * l.count
	} else {
		var part int64
		within, part = muldiv(delay, l.count, l.period)
		if part >= l.period-b.part {
			within++
		}
	}
	return max(0, b.used-l.capacity-within)
}
