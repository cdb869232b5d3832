package ratelimit

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"
)

const (
	// releaseTimeout is how long a store has to take back what a call held. The context of the call may have ended by
	// then, so that this is all that bounds it. Slots that could not be released come back when their leases end.
	releaseTimeout = time.Second
	// lastMoment is how much longer than its context a call may take to give back. A store that is well needs no more, and
	// has then taken it back when the call returns.
	lastMoment = 10 * time.Millisecond
	// maxGivingBack bounds how many calls are given back in the background at once while a store does not answer. Those
	// beyond it wait themselves, so that nothing is lost.
	maxGivingBack = 1000
	// maxDisowning bounds how many calls are disowned at once while a store does not answer.
	maxDisowning = 16
)

// giveBack gives back what a call was charged, even when ctx has ended. The call waits for it no longer than its deadline
// allows: if a store that does not answer has more time than that, it has it in the background. Kept says whether the call
// is to have all its slots still; those that it has lost were told when it did.
func (g *Guard) giveBack(ctx context.Context, local bool, back []Charge, kept bool) {
	if len(back) == 0 {
		return
	}
	l := g.limiter
	if ctx.Err() == nil && timeLeft(ctx) >= releaseTimeout || !l.givingBack.enter(maxGivingBack) {
		g.gaveBack(ctx, l.refund(ctx, local, back), back, kept)
		return
	}
	back = cloneCharges(back)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer l.givingBack.leave()
		g.gaveBack(ctx, survive(func() error { return l.refund(ctx, local, back) }), back, kept)
	}()
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	timer := time.NewTimer(lastMoment)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// gaveBack tells what came of giving back.
func (g *Guard) gaveBack(ctx context.Context, err error, back []Charge, kept bool) {
	if err != nil && (kept || !errors.Is(err, ErrLeaseLost)) {
		g.limiter.trouble(ctx, g.method, err)
	}
	g.limiter.lines.released(back)
}

// disown releases the slots of a call that the store has failed, in the background: it may have given them, and only the
// reply was lost. What fails here, too, comes back when the leases end.
func (l *Limiter) disown(ctx context.Context, s *scratch) {
	var slots []Charge
	for i, c := range s.charges {
		if s.holds(i) {
			slots = append(slots, c)
		}
	}
	if len(slots) == 0 || !l.disowning.enter(maxDisowning) {
		return
	}
	slots = cloneCharges(slots)
	method := s.method
	go func() {
		defer l.disowning.leave()
		err := survive(func() error { return l.refund(ctx, false, slots) })
		if err != nil && !errors.Is(err, ErrLeaseLost) { // as it is when the store has not given them
			l.trouble(ctx, method, err)
		}
	}()
}

// refund gives charges back to the store that has decided, even when ctx has ended.
func (l *Limiter) refund(ctx context.Context, local bool, charges []Charge) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	if local {
		return l.local.Refund(ctx, charges)
	}
	return l.stock.Refund(ctx, charges)
}

// cloneCharges returns charges whose keys nobody else has: those of a scratch are soon another call's.
func cloneCharges(charges []Charge) []Charge {
	charges = slices.Clone(charges)
	for i := range charges {
		charges[i].Key = bytes.Clone(charges[i].Key)
	}
	return charges
}

// crowd counts goroutines of one kind.
type crowd struct{ atomic.Int32 }

// enter reports whether there is room for another one, which must then leave.
func (c *crowd) enter(most int32) bool {
	if c.Add(1) <= most {
		return true
	}
	c.leave()
	return false
}

func (c *crowd) leave() { c.Add(-1) }
