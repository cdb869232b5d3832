package redislimit

import (
	"context"
	"sync/atomic"
	"time"
)

// batch is the calls that a server decides in one exchange.
type batch struct {
	ctx    context.Context // of the call that came first, whose the exchange is to hooks and traces
	asks   []*ask
	work   int            // of all asks
	calls  int            // how many have come
	latest time.Duration  // when the last one came, by the sender's clock
	left   map[*ask][]int // which of an ask's calls left before it departed
	flight flight         // which lands when all asks have answers
	awake  chan struct{}  // closed when it has landed, or when the call that came first is overdue; nil if it is for one call
	woken  atomic.Bool    // whether awake is closed
	alarm  *time.Timer    // which closes it then; nil if there is no budget

	// Under the lock of the gatherer:
	callers  int    // who have not left
	departed bool   // so that a caller who leaves may be charged all the same
	landed   bool   // or is overdue
	cancel   func() // ends an exchange that everybody has left
}

// hasRoom reports whether a batch that waits has room for an ask of so much work.
func (b *batch) hasRoom(work int) bool { return len(b.asks) < maxAsks && b.work+work <= maxWork }

// expect prepares the batch for callers who wait together. They are woken before it lands when the first is overdue.
func (b *batch) expect(budget time.Duration) {
	b.flight.landed, b.awake = make(chan struct{}), make(chan struct{})
	if budget > 0 {
		b.alarm = time.AfterFunc(budget, b.wake)
	}
}

// wake wakes those who wait together, and those who would.
func (b *batch) wake() {
	if b.awake != nil && !b.woken.Swap(true) {
		close(b.awake)
	}
}

// arrive tells those who wait together that the batch has landed.
func (b *batch) arrive() {
	if b.alarm != nil {
		b.alarm.Stop()
	}
	b.wake()
}

// seat is the place of a call in a batch.
type seat struct {
	batch *batch
	ask   *ask
	n     int // which of the ask's calls it is, from 0 in the order of arrival
}

// add adds a call of an ask that the batch has, or is to have, and that came at that time.
func (b *batch) add(a *ask, came time.Duration) seat {
	st := seat{b, a, a.calls + len(b.left[a])}
	b.latest = max(b.latest, came)
	a.calls++
	b.calls++
	b.callers++
	return st
}

// place returns which of the calls that have departed it is.
func (st seat) place() int {
	n := st.n
	for _, left := range st.batch.left[st.ask] {
		if left < st.n {
			n--
		}
	}
	return n
}
