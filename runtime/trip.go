package ratelimit

import (
	"context"
	"errors"
	"sync"
	"time"
)

// trip is the way of a call to the store.
type trip struct {
	claims  []claim  // for each charge of the call
	charges []Charge // of those for which there is not enough here
	results []Result
	asked   time.Duration
}

// claim is what a charge has of its pile, and what it asks of the store.
type claim struct {
	shelf   *shelf
	pile    *pile         // nil if the charge has none
	here    int64         // units that it has of the pile
	window  time.Duration // that these are of
	lacking int64         // units that it needs beside them
	ask     int64         // units that are asked of the store, at least what is lacking
	refill  chan struct{} // of the pile, if others wait for this one
}

var tripPool = sync.Pool{New: func() any { return new(trip) }}

func (t *trip) reset() {
	clear(t.claims)
	clear(t.charges)
	t.claims, t.charges, t.results = t.claims[:0], t.charges[:0], t.results[:0]
}

func (t *trip) release() {
	t.reset()
	tripPool.Put(t)
}

// plan claims what lies here for the charges of a call, and puts into the trip what is to be asked of the store. Where a refill
// that may be enough is on its way already, the call waits for it, and holds nothing while it does.
func (s *stock) plan(ctx context.Context, t *trip, charges []Charge, results []Result, modest bool) error {
	for {
		t.reset()
		t.asked = s.now()
		var waits claim
		for i := range charges {
			cl, ahead := s.claim(&charges[i], &results[i], modest)
			if ahead != nil {
				waits, waits.refill = cl, ahead
				break
			}
			t.claims = append(t.claims, cl)
			if cl.ask > 0 || cl.pile == nil {
				c := charges[i]
				if cl.pile != nil {
					c.Cost = cl.ask
				}
				t.charges, t.results = append(t.charges, c), append(t.results, Result{})
			}
		}
		if waits.refill == nil {
			return nil
		}
		for i := range t.claims {
			t.claims[i].drop()
		}
		if err := waits.wait(ctx); err != nil {
			return err
		}
	}
}

// claim returns what a charge can have of its pile, or the refill that it should wait for.
func (s *stock) claim(c *Charge, r *Result, modest bool) (cl claim, ahead chan struct{}) {
	if !c.stocked() {
		return claim{}, nil
	}
	sh, p := s.open(c)
	defer sh.mu.Unlock()
	if p == nil {
		return claim{}, nil
	}
	now := s.now()
	p.expire(now)
	p.touched = now
	p.calls++
	cl = claim{shelf: sh, pile: p, here: min(p.units, c.Cost), window: p.window}
	cl.lacking = c.Cost - cl.here
	if p.refill != nil && cl.lacking > 0 && cl.lacking <= p.room {
		p.waiting += cl.lacking
		cl.here = 0
		return cl, p.refill
	}
	p.spend(cl.here)
	switch cl.ask = cl.lacking; {
	case cl.ask == 0:
		*r = p.result(now)
	case p.refill == nil && !modest:
		cl.ask = p.want(c, cl.lacking, now)
	}
	if cl.ask > cl.lacking {
		cl.refill = make(chan struct{})
		p.refill = cl.refill
	}
	p.pledged += cl.pledge()
	return cl, nil
}

// wait waits for the refill of another call, or until ctx ends.
func (cl *claim) wait(ctx context.Context) (err error) {
	select {
	case <-cl.refill:
	case <-ctx.Done():
		err = ctx.Err()
	}
	cl.shelf.mu.Lock()
	defer cl.shelf.mu.Unlock()
	cl.pile.calls--
	cl.pile.waiting -= cl.lacking
	return err
}

// drop puts what a claim has back on its pile, and lets another call ask for more.
func (cl *claim) drop() {
	if cl.pile == nil {
		return
	}
	cl.shelf.mu.Lock()
	defer cl.shelf.mu.Unlock()
	cl.putBack()
}

// putBack ends a claim that has come to nothing. The shelf is locked.
func (cl *claim) putBack() {
	cl.end()
	if cl.window == cl.pile.window { // or they are of one that is over
		cl.pile.spend(-cl.here)
	}
}

// pledge returns how many units a claim may yet put on the pile: what it has of it, or what it asks for beyond its need.
func (cl *claim) pledge() int64 { return max(cl.here, cl.ask-cl.lacking) }

// end lets go of the pile. The shelf is locked.
func (cl *claim) end() {
	cl.pile.calls--
	cl.pile.pledged -= cl.pledge()
	if cl.refill != nil {
		cl.pile.refill = nil
		close(cl.refill)
	}
}

var errPanicked = errors.New("ratelimit: the store panicked")

// travel asks the store, and reports whether to ask again for less, as what it refuses is more than what the call needs.
func (s *stock) travel(ctx context.Context, t *trip, charges []Charge, results []Result) (again bool, err error) {
	arrived := false
	defer func() {
		if !arrived { // nobody may wait for a call that is gone
			s.fail(ctx, t, errPanicked)
		}
	}()
	err = s.store.Take(ctx, t.charges, t.results)
	arrived = true
	if err != nil {
		s.fail(ctx, t, err)
		return false, err
	}
	return s.settle(t, charges, results), nil
}

// fail ends a trip that the store has not answered: what it may have given all the same is lost. Those who wait go to the store
// themselves, as calls without a stock do, unless it was only the time of this call that was up.
func (s *stock) fail(ctx context.Context, t *trip, err error) {
	for i := range t.claims {
		cl := &t.claims[i]
		if cl.pile == nil {
			continue
		}
		cl.shelf.mu.Lock()
		cl.putBack()
		if cl.refill != nil && (ctx.Err() == nil || errors.Is(err, errPanicked)) {
			cl.pile.room = 0
		}
		cl.shelf.mu.Unlock()
	}
}

// settle ends a trip that the store has answered. It reports whether the call should ask again, for less.
func (s *stock) settle(t *trip, charges []Charge, results []Result) (again bool) {
	refused := false
	for i := range t.results {
		refused = refused || !t.results[i].Allowed
	}
	next := 0
	for i := range t.claims {
		cl := &t.claims[i]
		var answer *Result
		if cl.ask > 0 || cl.pile == nil {
			answer = &t.results[next]
			results[i] = *answer
			next++
		}
		if cl.pile == nil {
			results[i].Remaining += s.here(&charges[i])
			continue
		}
		cl.shelf.mu.Lock()
		now := s.now()
		switch {
		case !refused && answer != nil:
			cl.end()
			if cl.pile.learn(cl.ask, cl.ask-cl.lacking, t.asked, answer, charges[i].elsewhere) {
				cl.pile.used = charges[i].Cost
				cl.pile.expire(now)
				results[i] = cl.pile.result(t.asked)
			}
		case !refused:
			cl.end()
		case answer == nil:
			cl.putBack()
			results[i] = cl.pile.result(now)
		default:
			cl.putBack()
			cl.pile.learn(0, 0, t.asked, answer, 0)
			results[i].Remaining += cl.pile.units
			again = again || !answer.Allowed && cl.ask > cl.lacking
		}
		cl.shelf.mu.Unlock()
	}
	return again
}
