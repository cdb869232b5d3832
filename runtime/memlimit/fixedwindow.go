package memlimit

// inWindow returns a fixed window, which starts at the first admitted charge: mark is its start, part is 0.
func (b bucket) inWindow(now int64, l *limit) bucket {
	if now-b.mark >= l.period {
		return bucket{}
	}
	b.part = 0
	return b
}

// windowEnd returns the microseconds until the window ends.
func (b bucket) windowEnd(now int64, l *limit) int64 {
	return l.period - (now - b.mark)
}
