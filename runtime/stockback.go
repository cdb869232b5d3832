package ratelimit

import (
	"context"
	"errors"
	"fmt"
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
	// leastForOthers is how long a store has at least to take back what keeps a call from being admitted: as long as for a decision
	// by default, see package redislimit.
	leastForOthers = 100 * time.Millisecond
	// maxHanging is how many refunds may hang in a store that does not end them with their context, before what lies idle is left
	// to expire.
	maxHanging = 16
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
	if s.refunding.Load() < maxHanging {
		for err := range s.giveBack(context.Background(), s.now()-idleUnits) {
			s.tell(err)
			break // what else there is can wait; whoever closes the stock does not want to
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed.Load() || s.look == nil: // as another has found nothing, who was called by recall
	case s.piles.Load() == 0:
		s.look = nil // for the next pile somebody else will look
	default:
		s.look.Reset(idleLook)
	}
}

// giveBack gives back what no call has asked for since then, and forgets the piles. If that is all there is, it also waits for what
// others are giving back. It yields the errors of the store, or one of ctx if that ends before all is done. What the store fails to take back may have come back all the same, so that it is not given
// back again.
func (s *stock) giveBack(ctx context.Context, since time.Duration) iter.Seq[error] {
	return func(yield func(error) bool) {
		for shelf := 0; shelf < stockShelves; {
			if ctx.Err() != nil { // the store would not even try: what lies here is for the next to give back
				if left := s.lying(); left.buckets > 0 {
					yield(left.notGivenBack(ctx.Err()))
				}
				return
			}
			var back []Charge
			if back, shelf = s.pack(shelf, since); len(back) == 0 {
				break
			}
			short, cancel := context.WithTimeout(ctx, releaseTimeout)
			err := s.refundInTime(short, back)
			cancel()
			left, ended := unitsOf(back), err != nil && ctx.Err() != nil
			if ended {
				left = s.lying()
			}
			s.arrived(back)
			if err != nil && (!yield(left.notGivenBack(err)) || ended) {
				return
			}
		}
		if since == always {
			if err := s.untilArrived(ctx); err != nil {
				yield(err)
			}
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
		s.forget(sh, name)
	}
	return back
}

// forget removes a pile. The shelf is locked.
func (s *stock) forget(sh *shelf, name string) {
	delete(sh.piles, name)
	s.piles.Add(-1)
	if len(sh.piles) == 0 {
		sh.piles = nil // a map keeps the room that it has had
	}
}

// returnOthers gives back what lies here of the buckets that have refused a call, by other limits than those of the call. It
// reports whether something came back. The call waits for it, so that the store has no more time than a decision should take: one
// that is far away twice what its refusal took.
func (s *stock) returnOthers(ctx context.Context, charges []Charge, results []Result, took time.Duration) bool {
	if !s.othersLie(charges, results) {
		return false
	}
	back := s.packOthers(charges, results)
	if back == nil { // another call was faster
		return false
	}
	defer s.arrived(back)
	short, cancel := context.WithTimeout(ctx, min(max(leastForOthers, 2*took), releaseTimeout))
	defer cancel()
	if err := s.refundInTime(short, back); err != nil {
		s.tell(unitsOf(back).notGivenBack(err))
		return false
	}
	return true
}

// othersLie reports whether there is something for packOthers, which would keep other calls from packing.
func (s *stock) othersLie(charges []Charge, results []Result) bool {
	for i := range charges {
		c := &charges[i]
		if results[i].Allowed || !c.stocked() {
			continue
		}
		var array [128]byte
		sh, p := s.findAny(c, array[:0])
		lie := p != nil && p.bucket.Limit != c.Limit && p.units > 0
		sh.mu.Unlock()
		if lie {
			return true
		}
	}
	return false
}

// takeOthers appends what lies here of the bucket of a charge by another limit.
func (s *stock) takeOthers(c *Charge, back []Charge) []Charge {
	sh, p := s.findAny(c, nil)
	defer sh.mu.Unlock()
	if p == nil || p.bucket.Limit == c.Limit {
		return back
	}
	p.expire(s.now())
	if p.units > 0 {
		back = append(back, p.back())
		p.forgo(p.units)
		p.units = 0
	}
	if p.calls == 0 { // or they want it to be there
		s.forget(sh, string(appendBucket(nil, c)))
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
			return s.lying().notGivenBack(fmt.Errorf("calls are still on their way: %w", ctx.Err()))
		}
	}
	s.trips.Add(1)
	s.leave() // tells another Close, too
	// Calls may still find something here, so that there may be something to be given back after another Close.
	return errors.Join(slices.Collect(s.giveBack(ctx, always))...)
}

// refundInTime is Refund of the store, but returns soon after ctx has ended even if that does not.
func (s *stock) refundInTime(ctx context.Context, back []Charge) error {
	refunded := make(chan error, 1)
	s.refunding.Add(1)
	go func() {
		defer s.refunding.leave()
		refunded <- survive(func() error { return s.store.Refund(ctx, back) })
	}()
	select {
	case err := <-refunded:
		return err
	case <-ctx.Done():
	}
	timer := time.NewTimer(lastMoment) // in which a store that goes by ctx says so itself
	defer timer.Stop()
	select {
	case err := <-refunded:
		return err
	case <-timer.C:
		return ctx.Err()
	}
}

// Close gives back to the store what the Limiter has taken of it in advance, see [Rule.Prefetch], and ends all looking at sources
// of overrides, see [Limiter.Watch]. It is for the end of a process, and may be called more than once, and by several
// goroutines. When it returns nil, nothing lies here. Calls that come later are decided as ever, but each takes just what it
// needs; overrides hold as they did last.
//
// It returns when ctx ends, or 10 ms later, at the latest, whatever the store or a source does; the store has a second for a few
// buckets. Its error says how many units are not given back, of how many buckets, and matches that of ctx, if that has ended, or
// that of the store. They are counted as used until they come back by themselves.
func (l *Limiter) Close(ctx context.Context) error {
	if l == nil || l.stock == nil {
		return nil
	}
	l.overriding.close()
	err := l.stock.close(ctx)
	return errors.Join(err, l.overriding.wait(ctx))
}
