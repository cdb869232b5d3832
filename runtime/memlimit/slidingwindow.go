package memlimit

// A sliding window weighs two windows: windows of one period follow each other from 1970 on, and of the previous one
// there counts the share that a window that ends now would still overlap. Kept are used, the units of the current window,
// mark, the time of the last change, and part, those of the previous window. With another period, mark says which of the
// new windows the units are in: the one that it lies in.

// slid returns a sliding window whose used units are those of both windows.
func (b bucket) slid(now int64, l *limit) bucket {
	start := now - now%l.period
	switch {
	case b.mark >= start:
	case b.mark >= start-l.period:
		b.used, b.part = 0, b.used
	default:
		return bucket{}
	}
	b.mark = now
	b.used += b.weight(l)
	return b
}

// weight returns the units that the previous window still counts for at b.mark, rounded up.
func (b bucket) weight(l *limit) int64 {
	whole, rest := muldiv(l.period-b.mark%l.period, b.part, l.period)
	if rest > 0 {
		whole++
	}
	return whole
}

// current returns the units of the current window.
func (b bucket) current(l *limit) int64 { return b.used - b.weight(l) }

// unslid returns a sliding window without n of the units of that window in which they were taken.
func (b bucket) unslid(n, taken int64, l *limit) bucket {
	current, start := b.current(l), b.mark-b.mark%l.period
	switch {
	case taken >= start:
		current -= min(n, current)
	case taken >= start-l.period:
		b.part -= min(n, b.part)
	}
	b.used = current + b.weight(l)
	return b
}

// slideWait returns the microseconds until n units have come back to a sliding window that is as of now.
func (b bucket) slideWait(n, now int64, l *limit) int64 {
	ends := l.period - now%l.period
	current, keep := b.current(l), b.used-n
	if keep >= current {
		share, _ := muldiv(l.period, keep-current, b.part)
		return ends - share
	}
	share, _ := muldiv(l.period, keep, current)
	return ends + l.period - share
}
