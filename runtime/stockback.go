package ratelimit

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"time"
)

const (
	// idleUnits is how long units lie without a call that goes by them, before they are given back.
	idleUnits = time.Second
	// idleLook is how often somebody looks for such.
	idleLook = idleUnits / 2
	// maxGivenBack is how many buckets are given back to in one call of the store.
	maxGivenBack = 16
	// always is later than any call.
	always = time.Duration(math.MaxInt64)
)

// enter reports whether the stock is open to a call that may bring units. That must then leave.
func (s *stock) enter() bool {
	s.trips.Add(1)
	if s.closed.Load() {
		s.leave()
		return false
	}
	return true
}

func (s *stock) leave() {
	if s.trips.Add(-1) == 0 && s.closed.Load() {
		select {
		case s.quiet <- struct{}{}:
		default: // it was told already
		}
	}
}

// Refund is that of a [Store]. What was taken with a prefetch is put on its pile, as long as it is worth something there, and
// there are not as many already.
func (s *stock) Refund(ctx context.Context, charges []Charge) error {
	if slices.ContainsFunc(charges, func(c Charge) bool { return c.stocked() }) && s.enter() {
		charges = s.restock(charges)
		s.leave()
		if len(charges) == 0 {
			return nil
		}
	}
	return s.store.Refund(ctx, charges)
}

// restock returns what is left of the charges for the store.
func (s *stock) restock(charges []Charge) []Charge {
	rest := make([]Charge, 0, len(charges))
	for i := range charges {
		c := charges[i]
		if c.stocked() {
			sh, p := s.find(&c)
			if p != nil {
				now := s.now()
				p.expire(now)
				p.touched = now
				c.Cost = p.restock(&c, now)
				p.forgo(c.Cost)
			}
			sh.mu.Unlock()
			if c.Cost == 0 {
				continue
			}
		}
		rest = append(rest, c)
	}
	return rest
}

// watch has somebody look for what lies idle, as long as there are piles. In between nobody is there who could be left behind.
func (s *stock) watch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.look == nil && !s.closed.Load() {
		s.look = time.AfterFunc(idleLook, s.lookForIdle)
	}
}

func (s *stock) lookForIdle() {
	if !s.enter() {
		return
	}
	defer s.leave()
	for err := range s.giveBack(context.Background(), s.now()-idleUnits) {
		s.tell(err)
		break // what else there is can wait; whoever closes the stock does not want to
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed.Load():
	case s.piles.Load() == 0:
		s.look = nil // for the next pile somebody else will look
	default:
		s.look.Reset(idleLook)
	}
}

// giveBack gives back what no call has asked for since then, and forgets the piles. It yields the errors of the store. What that
// does not take may have come back all the same, so that it is not given back again.
func (s *stock) giveBack(ctx context.Context, since time.Duration) iter.Seq[error] {
	return func(yield func(error) bool) {
		var back []Charge
		for i := 0; i < stockShelves; {
			if back = s.clear(&s.shelves[i], since, back); len(back) < maxGivenBack {
				if i++; i < stockShelves || len(back) == 0 {
					continue
				}
			}
			ctx, cancel := context.WithTimeout(ctx, releaseTimeout)
			err := survive(func() error { return s.store.Refund(ctx, back) })
			cancel()
			if err != nil && !yield(err) {
				return
			}
			back = nil
		}
	}
}

// clear takes from a shelf the piles that no call has asked for since then, until there are as many to give back as the store is
// given at once.
func (s *stock) clear(sh *shelf, since time.Duration, back []Charge) []Charge {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for name, p := range sh.piles {
		if len(back) == maxGivenBack {
			break
		}
		if p.calls > 0 || p.touched > since {
			continue
		}
		p.expire(s.now())
		if p.units > 0 {
			back = append(back, p.back())
		}
		delete(sh.piles, name)
		s.piles.Add(-1)
	}
	if len(sh.piles) == 0 {
		sh.piles = nil // a map keeps the room that it has had
	}
	return back
}

// close gives everything back, once the calls that are on their way have come back.
func (s *stock) close(ctx context.Context) error {
	s.mu.Lock()
	s.closed.Store(true)
	if s.look != nil {
		s.look.Stop()
	}
	s.mu.Unlock()
	for s.trips.Load() > 0 {
		select {
		case <-s.quiet:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.trips.Add(1)
	s.leave()                                                      // tells another Close, too
	return errors.Join(slices.Collect(s.giveBack(ctx, always))...) // also of calls that still find something here
}

// Close gives back to the store what the Limiter has taken of it in advance, see [Rule.Prefetch], and ends all looking at sources
// of overrides, see [Limiter.Watch]. It is for the end of a process, and may be called more than once, and by several
// goroutines. When it returns nil, nothing lies here. Calls that come later are decided as ever, but each takes just what it
// needs; overrides hold as they did last.
//
// Its error is that of ctx, if calls that are on their way to the store last longer, or a look at a source does, or that of the
// store: units that are not given back are counted as used.
func (l *Limiter) Close(ctx context.Context) error {
	if l == nil || l.stock == nil {
		return nil
	}
	return errors.Join(l.overriding.close(ctx), l.stock.close(ctx))
}
