package ratelimit

import (
	"bytes"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// renewalsPerLease is how many times a lease is renewed before it would end, so that one renewal that fails loses
	// nothing.
	renewalsPerLease = 3
	// retriesPerLease is how many times a lease's time holds the pause after a renewal that failed.
	retriesPerLease = 10
	// maxRenewals and maxRenewedSlots bound what is asked of a store at once.
	maxRenewals     = 100
	maxRenewedSlots = maxSlots
	// maxUnderWay is how many renewals are on their way to a store at once: one that hangs must not hold up the others.
	maxUnderWay = 4
	// renewalTimeout is how long a renewal may take, or less for short leases.
	renewalTimeout = time.Second
)

// lease is a slot that a call holds. Its times are of this process's clock and begin before the store's do, so that it
// ends here first.
type lease struct {
	call    *Call
	local   bool // whether the slot is the local store's
	shadow  bool // whether nothing becomes of it when it is lost
	expires bool // whether it is lost when its time has passed; or else when the store says so, see [Call.Context]
	slot    Charge
	taken   time.Time // when it was asked for, or renewed last
	due     time.Time // when there is something to do about it: to renew it, or to give it up
	index   int       // in the heap, -1 when it is not held any more
	queued  bool      // whether its renewal is to come or on its way
	err     error     // of the last renewal
}

func (l *lease) ends() time.Time { return l.taken.Add(l.slot.Limit.Period) }

// retry is the pause after a renewal that failed.
func (l *lease) retry() time.Duration { return l.slot.Limit.Period / retriesPerLease }

// start makes the lease one that was taken at that time.
func (l *lease) start(taken time.Time) {
	l.taken, l.due, l.queued, l.err = taken, taken.Add(l.slot.Limit.Period/renewalsPerLease), false, nil
}

// leases are those of a Limiter's calls. One goroutine watches them all, and a few are on their way to the store. They run
// while there are leases, so that there is nothing to close.
type leases struct {
	limiter *Limiter

	mu      sync.Mutex
	held    leaseHeap
	queues  [2]renewals   // of the store, and of the local one
	running bool          // whether leases are watched
	changed chan struct{} // tells the watch that it may have to do something earlier, or nothing
}

// renewals are those of one store.
type renewals struct {
	queue    []*lease
	underWay int
}

// hold keeps the slots among what a call has taken until they are released.
func (ls *leases) hold(c *Call, s *scratch) []*lease {
	var mine []*lease
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for i, slot := range s.charges {
		if !s.holds(i) {
			continue
		}
		slot.Key = bytes.Clone(slot.Key)
		r := s.rules[i]
		l := &lease{call: c, local: s.local, slot: slot, shadow: r.Mode == ModeShadow}
		l.expires = !ls.renews(l) || ls.limiter.failureOf(r) == FailClosed
		l.start(s.asked)
		heap.Push(&ls.held, l)
		mine = append(mine, l)
	}
	switch {
	case mine == nil:
	case !ls.running:
		ls.running = true
		go ls.watch()
	case ls.held[0].taken.Equal(s.asked):
		ls.notify()
	}
	return mine
}

// release ends the watch on a call's leases and reports whether none had been lost.
func (ls *leases) release(mine []*lease) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	all := true
	for _, l := range mine {
		if l.index < 0 {
			all = false
		} else {
			heap.Remove(&ls.held, l.index)
		}
	}
	if len(ls.held) == 0 {
		ls.notify()
	}
	return all
}

func (ls *leases) notify() {
	select {
	case ls.changed <- struct{}{}:
	default:
	}
}

// watch sees to the leases when they are due, until there are none.
func (ls *leases) watch() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		lost, wait, ok := ls.turn(time.Now())
		for _, l := range lost {
			l.lose()
		}
		if !ok {
			return
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-ls.changed:
		}
	}
}

// turn does what is due. It returns the leases that have ended and for how long there is nothing to do, or that there is no
// lease left.
func (ls *leases) turn(now time.Time) (lost []*lease, wait time.Duration, ok bool) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for len(ls.held) > 0 && !ls.held[0].due.After(now) {
		l := ls.held[0]
		if l.expires && !l.ends().After(now) {
			heap.Pop(&ls.held)
			lost = append(lost, l)
			continue
		}
		if !l.queued && ls.renews(l) {
			l.queued = true
			q := ls.queue(l)
			q.queue = append(q.queue, l)
		}
		if l.due = l.ends(); !l.due.After(now) {
			l.due = now.Add(l.retry())
		}
		heap.Fix(&ls.held, 0)
	}
	if len(ls.held) == 0 {
		ls.running = false
		ls.queues[0].queue, ls.queues[1].queue = nil, nil
		return lost, 0, false
	}
	for i := range ls.queues {
		for batch := ls.queues[i].next(); batch != nil; batch = ls.queues[i].next() {
			go ls.renew(batch)
		}
	}
	return lost, ls.held[0].due.Sub(now), true
}

// renews reports whether the store of a lease prolongs leases.
func (ls *leases) renews(l *lease) bool {
	_, renews := ls.limiter.decider(l.local).(Renewer)
	return renews
}

// queue returns where a lease waits to be renewed.
func (ls *leases) queue(l *lease) *renewals {
	if l.local {
		return &ls.queues[1]
	}
	return &ls.queues[0]
}

// next takes from the queue what is to be renewed in one call, if another may be under way. Leases of one time go together,
// so that none holds up shorter ones, and so do those whose last renewal failed.
func (r *renewals) next() []*lease {
	if r.underWay == maxUnderWay {
		return nil
	}
	var batch, rest []*lease
	var slots int64
	for _, l := range r.queue {
		switch {
		case l.index < 0: // released, or lost, meanwhile
		case batch == nil || l.isLike(batch[0]) && len(batch) < maxRenewals && slots+l.slot.Cost <= maxRenewedSlots:
			batch = append(batch, l)
			slots += l.slot.Cost
		default:
			rest = append(rest, l)
		}
	}
	r.queue = rest
	if batch != nil {
		r.underWay++
	}
	return batch
}

// isLike reports whether two leases may be renewed together.
func (l *lease) isLike(m *lease) bool {
	return l.slot.Limit.Period == m.slot.Limit.Period && (l.err == nil) == (m.err == nil)
}

// renew renews leases in one call of their store.
func (ls *leases) renew(batch []*lease) {
	started := time.Now()
	slots := make([]Charge, len(batch))
	for i, l := range batch {
		slots[i] = l.slot
	}
	held := make([]bool, len(batch))
	ctx, cancel := context.WithTimeout(context.Background(), min(batch[0].slot.Limit.Period/renewalsPerLease, renewalTimeout))
	renewer := ls.limiter.decider(batch[0].local).(Renewer) // or nothing would be queued
	err := survive(func() error { return renewer.Renew(ctx, slots, held) })
	cancel()

	for _, l := range ls.renewed(batch, held, err, started) {
		l.lose()
	}
}

// renewed notes what came of a renewal and returns the leases that are lost.
func (ls *leases) renewed(batch []*lease, held []bool, err error, started time.Time) (lost []*lease) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.queue(batch[0]).underWay--
	ls.notify()
	for i, l := range batch {
		switch {
		case l.index < 0: // released, or lost, meanwhile
			continue
		case held[i]:
			l.start(started)
		case err != nil:
			l.err, l.queued = err, false
			l.expires = l.expires || errors.Is(err, ErrMisconfigured)
			l.due = time.Now().Add(l.retry())
			if l.expires && l.ends().Before(l.due) {
				l.due = l.ends()
			}
		default:
			heap.Remove(&ls.held, l.index)
			lost = append(lost, l)
			continue
		}
		heap.Fix(&ls.held, l.index)
	}
	return lost
}

// lose tells the call that its lease is lost.
func (l *lease) lose() {
	cause, told := ErrLeaseLost, ErrLeaseLost
	if l.err != nil { // whose timeout may be that of the renewal
		cause = fmt.Errorf("%w: %w", ErrLeaseLost, conceal(l.err, l.call.caller.Err()))
		told = fmt.Errorf("%w: %w", ErrLeaseLost, l.err)
	}
	if !l.shadow {
		l.call.end(cause)
	}
	g := l.call.guard
	g.limiter.trouble(l.call.caller, g.method, fmt.Errorf("limit %s: %w", l.slot.Name, told))
}

// leaseHeap orders leases by when they are due. It implements [heap.Interface].
type leaseHeap []*lease

func (h leaseHeap) Len() int           { return len(h) }
func (h leaseHeap) Less(i, j int) bool { return h[i].due.Before(h[j].due) }

func (h leaseHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements [heap.Interface].
func (h *leaseHeap) Push(x any) {
	l := x.(*lease)
	l.index = len(*h)
	*h = append(*h, l)
}

// Pop implements [heap.Interface].
func (h *leaseHeap) Pop() any {
	last := len(*h) - 1
	l := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	l.index = -1
	return l
}
