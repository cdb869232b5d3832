package memlimit

import ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"

// Calls that wait for their turns charge a token bucket or a leaky bucket in advance: more is then used than its capacity.
// A waiting call has its turn as soon as what it lacked has come back, so that turns come in the order of the calls.

const (
	longest = 87600 * 3600 * 1_000_000 // microseconds that anybody waits: what a refund keeps is for all who come later
	maxDebt = 1_000_000_000            // units that can be charged in advance
)

// most returns the most units that can be out of a token bucket: the capacity, and what calls with this patience can have
// charged in advance. A bucket does not know the patience of others, and takes what is above that for a capacity that
// was lowered: one that waits for less than others may go before them.
func (l *limit) most() int64 {
	if l.patience == 0 {
		return l.capacity
	}
	return l.capacity + l.advance()
}

func (l *limit) advance() int64 {
	if l.refill == ratelimit.Interval {
		return min(l.patience/l.period*l.count, maxDebt) + l.count
	}
	back, _ := muldiv(l.patience, l.count, l.period)
	return min(back, maxDebt) + 1
}

// behind returns how many units were charged by those who wait for longer than delay. A call that no longer waits does not
// give back as many: those behind it keep their turns, and what is not waited for is all that another call may have.
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
