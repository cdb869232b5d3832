package memlimit

// A leaky bucket, as the generic cell rate algorithm of ITU-T I.371: it is a greedy token bucket that is kept as one
// time. mark is the theoretical arrival time, at which the bucket will have drained, rounded up to a microsecond, and
// part what was added for that, in 1/count of a microsecond. With another limit the bucket drains at the same time as
// before, and holds what drains until then.

// drained returns a leaky bucket as a token bucket that was refilled until now. It may hold more than its capacity: calls
// wait for their turns, or the capacity was lowered.
func (b bucket) drained(now int64, l *limit) bucket {
	due := b.mark - now
	if due <= 0 {
		return bucket{}
	}
	used, rest := muldiv(due, l.count, l.period)
	part := min(b.part, l.count-1) - rest // the count may have become lower
	if part < 0 {
		used, part = used+1, part+l.period
	}
	return bucket{used: used, mark: now, part: part}
}

// arrival is the way back from drained.
func (b bucket) arrival(now int64, l *limit) bucket {
	drains, part := muldivup(l.period, b.used, b.part, l.count)
	return bucket{mark: now + drains, part: part}
}
