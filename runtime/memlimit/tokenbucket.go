package memlimit

import ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"

// refilled returns a token bucket, e.g. RFC 2697 section 3, with the tokens that came back until now.
//
// Greedy: mark is when the bucket was last looked at, part is the progress to the next token in 1/period of a token.
// Interval: mark is the start of the period, part is 0.
//
// More tokens out than there are, after the capacity was lowered, are as many as there are: the bucket is empty, and
// no one waits longer than it takes to fill. Those who wait for their turns have taken some in advance.
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
	wait, _ := muldivup(l.period, n, b.part, l.count)
	return wait
}
