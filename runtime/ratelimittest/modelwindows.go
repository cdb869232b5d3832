package ratelimittest

import (
	"slices"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// sliding is a sliding window.
type sliding struct {
	current, previous int64 // units of the two windows
	charge            ratelimit.Charge
	now, elapsed      int64 // elapsed of the current window
	future            bool
}

// slidingWindow: at the time mark, used units were those of the window that mark lies in and part those of the one
// before.
func slidingWindow(b state, c ratelimit.Charge, now int64) standing {
	period := c.Limit.Period.Microseconds()
	w := &sliding{charge: c, now: now, elapsed: now % period, future: b.mark > now}
	switch start := now - w.elapsed; {
	case b.mark >= start:
		w.current, w.previous = b.used, b.part
	case b.mark >= start-period:
		w.previous = b.used
	}
	return w
}

func (w *sliding) period() int64 { return w.charge.Limit.Period.Microseconds() }

func (w *sliding) left() int64 {
	weighted := product(rat(w.previous, 1), rat(w.period()-w.elapsed, w.period()))
	return floor(minus(rat(w.charge.Limit.Count-w.current, 1), weighted))
}

func (w *sliding) retry() int64 {
	room := w.charge.Limit.Count - w.charge.Cost // for what was taken before
	if w.current <= room {
		return w.fades(w.previous, room-w.current) - w.elapsed
	}
	return w.period() - w.elapsed + w.fades(w.current, room)
}

// fades returns the time into a window from which on, of units of the window before, no more than weight are counted.
func (w *sliding) fades(units, weight int64) int64 {
	if units <= weight {
		return 0
	}
	return ceil(product(rat(w.period(), 1), rat(units-weight, units)))
}

func (w *sliding) reset() int64 {
	switch {
	case w.current > 0:
		return 2*w.period() - w.elapsed
	case w.previous > 0:
		return w.period() - w.elapsed
	}
	return 0
}

func (w *sliding) take()           { w.current += w.charge.Cost }
func (w *sliding) remember() state { return state{used: w.current, part: w.previous, mark: w.now} }
func (w *sliding) ahead() bool     { return w.future }

func (w *sliding) refund(n, taken int64) {
	switch start := w.now - w.elapsed; {
	case taken >= start:
		w.current = max(0, w.current-n)
	case taken >= start-w.period():
		w.previous = max(0, w.previous-n)
	}
}

// entry is what was taken at a time.
type entry struct{ at, units int64 }

// recorded is a sliding log.
type recorded struct {
	log    []entry // those that count, oldest first
	charge ratelimit.Charge
	now    int64
	future bool
}

// slidingLog: what was taken in the last period counts. What seems to have been taken later than now was taken now.
func slidingLog(b state, c ratelimit.Charge, now int64) standing {
	w := &recorded{charge: c, now: now}
	later := entry{at: now}
	for _, e := range b.log {
		switch {
		case e.at > now:
			later.units += e.units
			w.future = true
		case e.at > now-c.Limit.Period.Microseconds():
			w.log = append(w.log, e)
		}
	}
	if w.future {
		w.log = append(w.log, later)
	}
	return w
}

func (w *recorded) left() int64 {
	left := w.charge.Limit.Count
	for _, e := range w.log {
		left -= e.units
	}
	return left
}

// counts returns how long an entry still counts.
func (w *recorded) counts(e entry) int64 { return e.at + w.charge.Limit.Period.Microseconds() - w.now }

func (w *recorded) retry() int64 {
	wait, lacking := int64(0), w.charge.Cost-w.left()
	for _, e := range w.log {
		if lacking > 0 {
			wait = w.counts(e)
			lacking -= e.units
		}
	}
	return wait
}

func (w *recorded) reset() int64 {
	if len(w.log) == 0 {
		return 0
	}
	return w.counts(w.log[len(w.log)-1])
}

// take adds an entry, unless the last one is of the same tick and moves to the present.
func (w *recorded) take() {
	e := entry{w.now, w.charge.Cost}
	if last := len(w.log) - 1; last >= 0 && w.tick(w.log[last].at) == w.tick(w.now) {
		e.units += w.log[last].units
		w.log = w.log[:last]
	}
	w.log = append(w.log, e)
}

// tick returns which of the ticks that share an entry a time is in.
func (w *recorded) tick(at int64) int64 {
	const most = 1_000_000 // entries of a log, or not many more
	if w.charge.Limit.Count <= most {
		return at
	}
	return at / ceil(rat(w.charge.Limit.Period.Microseconds(), most))
}

// refund takes units of the last entry, if it was then that they were taken. All others, if they still count, it takes of the
// oldest entries: with newer ones gone, the log would too soon forget what was not given back.
func (w *recorded) refund(n, taken int64) {
	last := len(w.log) - 1
	switch {
	case last < 0:
		return
	case w.tick(w.log[last].at) == w.tick(taken):
		n -= w.takeBack(last, n)
	case w.counts(entry{at: taken}) <= 0:
		return
	}
	for len(w.log) > 0 && n > 0 {
		n -= w.takeBack(0, n)
	}
}

// takeBack takes up to n units of an entry, and returns how many.
func (w *recorded) takeBack(i int, n int64) int64 {
	n = min(n, w.log[i].units)
	w.log[i].units -= n
	if w.log[i].units == 0 {
		w.log = slices.Delete(w.log, i, i+1)
	}
	return n
}

func (w *recorded) remember() state { return state{log: w.log} }
func (w *recorded) ahead() bool     { return w.future }
