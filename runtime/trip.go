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
	refill  *refill       // of the pile, if this one brings it
	beside  bool          // it asks for just what is lacking, whatever may be worth taking
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

// plan claims what lies here for the charges of a call, and puts into the trip what is to be asked of the store. A modest call
// asks for just what it needs.
func (s *stock) plan(t *trip, charges []Charge, results []Result, modest bool) {
	t.reset()
	t.asked = s.now()
	for i := range charges {
		cl := s.claim(&charges[i], &results[i], modest)
		t.claims = append(t.claims, cl)
		if cl.ask > 0 || cl.pile == nil {
			c := charges[i]
			if cl.pile != nil {
				c.Cost = cl.ask
			}
			t.charges, t.results = append(t.charges, c), append(t.results, Result{})
		}
	}
}

// claim returns what a charge can have of its pile, and asks of the store. Beside the refill of another call, that is just what
// it needs: so no call waits for units that may not come, and a store that gathers calls takes many such at once.
func (s *stock) claim(c *Charge, r *Result, modest bool) claim {
	if !c.stocked() {
		return claim{}
	}
	sh, p := s.open(c)
	defer sh.mu.Unlock()
	if p == nil {
		return claim{}
	}
	now := s.now()
	p.expire(now)
	p.touched = now
	p.calls++
	cl := claim{shelf: sh, pile: p, here: min(p.units, c.Cost), window: p.window, beside: modest || p.refill != nil}
	p.spend(cl.here)
	cl.lacking = c.Cost - cl.here
	switch cl.ask = cl.lacking; {
	case cl.ask == 0:
		*r = p.result(now)
	case !cl.beside:
		cl.ask = p.want(c, cl.lacking, now)
	}
	if surplus := cl.ask - cl.lacking; surplus > 0 {
		cl.refill = newRefill(sh, surplus)
		p.refill = cl.refill
	}
	p.pledged += cl.pledge()
	return cl
}

// putBack ends a claim that has come to nothing. The shelf is locked.
func (cl *claim) putBack() {
	cl.end()
	if cl.refill != nil {
		close(cl.refill.over)
	}
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

// fail ends a trip that the store has not answered: what it may have given all the same is lost. So the next call asks for just
// what it needs, unless it was only the time of this one that was up.
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
			if result, ok := cl.arrive(&charges[i], t.asked, now, answer); ok {
				results[i] = result
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

// arrive ends a claim that has come to what it asked for, and shares out what it brings beyond that. It returns the result of
// the call, unless the answer is of a window that is over. The shelf is locked.
func (cl *claim) arrive(c *Charge, asked, now time.Duration, answer *Result) (r Result, ok bool) {
	cl.end()
	p := cl.pile
	p.took = now - asked
	if ok = p.learn(cl.ask, cl.ask-cl.lacking, asked, answer, c.elsewhere); ok {
		if cl.beside {
			p.used += cl.lacking
		} else {
			p.used, p.since = c.Cost, asked
		}
		p.expire(now)
		r = p.result(max(asked, p.asked)) // another may have been answered before
	}
	if cl.refill != nil {
		if ok {
			cl.refill.share(p, now)
		}
		close(cl.refill.over)
	}
	return r, ok
}
