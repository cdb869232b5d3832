package ratelimit

import (
	"context"
	"time"
)

// refill is the units that a call asks the store for beyond its own need. While it is on its way, others may wait for them, as
// far as there are enough for all: each is promised its own. So a call waits for one answer at most. If that does not bring
// its units, or they have come back to the bucket before they were here, it asks the store by itself for just what it needs.
type refill struct {
	shelf   *shelf
	over    chan struct{} // closed when the answer has come, or none will
	free    int64         // units that are promised to nobody
	waiters []waiter      // in order of arrival; nobody changes them when it is over
}

// waiter is a call that waits for a refill.
type waiter struct {
	cost   int64 // 0 if it has gone
	served bool
	result Result
}

// promise is what a call waits for.
type promise struct {
	refill *refill // nil if there is none
	place  int     // among those who wait
}

func newRefill(sh *shelf, units int64) *refill {
	return &refill{shelf: sh, over: make(chan struct{}), free: units}
}

// join promises units to a call, if there are enough. The shelf is locked.
func (f *refill) join(cost int64) promise {
	if f == nil || f.free < cost {
		return promise{}
	}
	f.free -= cost
	f.waiters = append(f.waiters, waiter{cost: cost})
	return promise{refill: f, place: len(f.waiters) - 1}
}

// share gives those who wait their units of the pile, as far as they have not ended. The shelf is locked.
func (f *refill) share(p *pile, now time.Duration) {
	for i := range f.waiters {
		w := &f.waiters[i]
		if w.served = w.cost <= p.units; w.served {
			p.spend(w.cost)
			w.result = p.result(now)
		}
	}
}

// wait waits until the refill is over, and reports whether it has served the call.
func (p promise) wait(ctx context.Context, r *Result) (served bool, err error) {
	f := p.refill
	select {
	case <-f.over:
	case <-ctx.Done():
		if f.leave(p.place) {
			return false, ctx.Err()
		}
	}
	w := &f.waiters[p.place]
	*r = w.result
	return w.served, nil
}

// leave reports whether one who waits can go, since nothing has come yet.
func (f *refill) leave(place int) bool {
	f.shelf.mu.Lock()
	defer f.shelf.mu.Unlock()
	select {
	case <-f.over:
		return false
	default:
	}
	f.free += f.waiters[place].cost
	f.waiters[place].cost = 0
	return true
}
