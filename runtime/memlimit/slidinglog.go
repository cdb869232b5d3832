package memlimit

import "sort"

// log holds what a sliding log admitted, oldest first, in a ring, so that both ends are at hand. Totals run on: the units
// of any stretch are the difference of two, and where it ends is found by bisection, by time or by units. One that is kept
// has an entry.
type log struct {
	ring  []logEntry // its length is a power of two
	first int        // the place of the first entry in ring
	size  int        // entries
	gone  int64      // the total before the first entry
}

type logEntry struct {
	at    int64 // microseconds of the store's clock
	total int64 // units up to this entry, its own included
}

const (
	// maxTicks is the count up to which each time has an entry of its own. With a higher one, a period is divided into that
	// many ticks, and what is admitted in one of them shares an entry.
	maxTicks = 1_000_000
	// minRing is the length below which a ring is not worth making smaller.
	minRing = 8
)

// logged returns a sliding log with cost units more. Entries that no longer count are dropped.
func (b bucket) logged(cost, now int64, l *limit) bucket {
	if b.detail == nil {
		b.detail = &detail{}
	}
	b.detail.log.keep(b.used)
	b.detail.log.push(cost, now, l.tick())
	b.used += cost
	return b
}

// unlogged returns a sliding log that was given n units back, which were taken at a time. Those of the newest entry go if it
// is of that time. Otherwise the oldest go in their place: were any to go that are newer, the log would forget too soon
// what was not given back. What was taken a period ago has come back by itself. Entries that no longer count are dropped.
func (b bucket) unlogged(n, taken, now int64, l *limit) bucket {
	if b.used == 0 {
		return b
	}
	g, tick := &b.detail.log, l.tick()
	switch newest := g.entry(g.size - 1).at; {
	case newest/tick == taken/tick:
		g.pop(n)
	case now-taken >= l.period:
		n = 0
	}
	b.used -= n
	g.keep(b.used)
	return b
}

// tick returns the microseconds within which what is admitted shares an entry.
func (l *limit) tick() int64 {
	if l.count > maxTicks {
		return divup(l.period, maxTicks)
	}
	return 1
}

// logWait returns the microseconds until the oldest n units of a sliding log no longer count.
func (b bucket) logWait(n, now int64, l *limit) int64 {
	g := &b.detail.log
	i := g.size - 1
	if n < b.used {
		i = g.find(g.total() - b.used + n)
	}
	return g.entry(i).at + l.period - now
}

// since returns the units that are later than t.
func (g *log) since(t int64) int64 {
	i := 0
	if g.entry(0).at <= t {
		i = sort.Search(g.size, func(i int) bool { return g.entry(i).at > t })
	}
	return g.total() - g.before(i)
}

// keep drops the oldest entries, all but those of the newest n units.
func (g *log) keep(n int64) {
	gone := g.total() - n
	if gone == g.gone {
		return
	}
	i := g.find(gone + 1)
	g.first, g.size, g.gone = (g.first+i)&(len(g.ring)-1), g.size-i, gone
	g.shrink()
}

// push adds n units. They join the newest entry, and make it later, if it is of the same tick.
func (g *log) push(n, now, tick int64) {
	e := logEntry{at: now, total: g.total() + n}
	if g.size > 0 && g.entry(g.size-1).at/tick == now/tick {
		*g.entry(g.size - 1) = e
		return
	}
	if g.size == len(g.ring) {
		g.resize(max(1, 2*len(g.ring)))
	}
	g.size++
	*g.entry(g.size - 1) = e
}

// pop drops up to n units of the newest entry.
func (g *log) pop(n int64) {
	e, before := g.entry(g.size-1), g.before(g.size-1)
	if e.total -= n; e.total <= before {
		g.size--
		g.shrink()
	}
}

// find returns the first entry up to which there are as many units as total.
func (g *log) find(total int64) int {
	return sort.Search(g.size, func(i int) bool { return g.entry(i).total >= total })
}

func (g *log) entry(i int) *logEntry { return &g.ring[(g.first+i)&(len(g.ring)-1)] }

// before returns the total before the i-th entry.
func (g *log) before(i int) int64 {
	if i == 0 {
		return g.gone
	}
	return g.entry(i - 1).total
}

// total returns the total with the newest entry.
func (g *log) total() int64 { return g.before(g.size) }

// shrink gives back the memory of a log that is much smaller than it was.
func (g *log) shrink() {
	n := len(g.ring)
	for n > minRing && g.size <= n/4 {
		n /= 2
	}
	if n < len(g.ring) {
		g.resize(n)
	}
}

func (g *log) resize(n int) {
	ring := make([]logEntry, n)
	for i := range g.size {
		ring[i] = *g.entry(i)
	}
	g.ring, g.first = ring, 0
}
