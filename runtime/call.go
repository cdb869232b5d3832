package ratelimit

import (
	"context"
	"crypto/rand"
	"sync/atomic"
)

// Call is a call of a guarded method that may go on, and what it holds. It comes from [Guard.Begin]. Context may be used
// by several goroutines at once, Refund and End by the one that began it.
type Call struct {
	guard   *Guard
	caller  context.Context         // that of the caller
	ctx     context.Context         // that of the call
	scratch *scratch                // nil if there is nothing to give back
	end     context.CancelCauseFunc // ends ctx; nil if that is the caller's own
	leases  []*lease
	refunds []bool // by charge
	ended   atomic.Bool
}

// Begin is [Guard.Allow] for methods with a [Concurrency] limit, whose slots are held until [Call.End], and for methods
// whose units may be given back, by [Call.Refund]:
//
//	call, err := guard.Begin(ctx)
//	if err != nil {
//		return err
//	}
//	defer call.End()
func (g *Guard) Begin(ctx context.Context, call ...Arg) (*Call, error) {
	if err := g.usable(); err != nil {
		return nil, err
	}
	s, p := scratchPool.Get().(*scratch), g.plan()
	s.timed = true
	if p.leased {
		s.holder = rand.Text() // 130 random bits
	}
	c := &Call{guard: g, caller: ctx, ctx: ctx}
	err := g.decide(ctx, s, p, call)
	switch {
	case err != nil:
		s.release()
		return nil, err
	case len(s.charges) == 0:
		s.release()
		return c, nil
	}
	c.scratch = s
	for i, r := range s.rules {
		if s.holds(i) && r.Mode == ModeEnforce {
			c.ctx, c.end = context.WithCancelCause(ctx)
			break
		}
	}
	c.leases = g.limiter.leases.hold(c, s)
	if err := s.awaitTurn(c.ctx); err != nil {
		c.stop()
		g.giveUp(ctx, s)
		s.release()
		return nil, g.undecided(conceal(err, ctx.Err()))
	}
	return c, nil
}

// stop ends the watch on the call's leases, and its context. It reports whether none of them was lost.
func (c *Call) stop() bool {
	kept := c.guard.limiter.leases.release(c.leases)
	if c.end != nil {
		c.end(nil)
	}
	return kept
}

// Context returns the context for the call: that which [Guard.Begin] was given, or for a call that holds slots one made
// from it, that also ends with the call, and when it loses a slot, with [ErrLeaseLost] as its [context.Cause]. What the
// call returns must not live on it.
//
// A slot is lost when the store says so. While it does not answer, under [FailClosed] a slot is lost when its lease would
// end, so that there are never more calls than slots; under [FailLocal] and [FailOpen] the call goes on, beside those that
// are let pass meanwhile, and beside those that take its slot when the store is back, until the next renewal finds that it
// was lost.
func (c *Call) Context() context.Context { return c.ctx }

// Refund gives the units that the call took of the limit of that name back when the call ends. It does nothing for a limit
// that the call was not charged for, and for slots, which come back anyway. Of a method that has slots, the limit's Rule is to
// say that it [Rule.Refunds]. Units that would have come back by then, had
// nobody else called, have, and are not given back twice.
func (c *Call) Refund(limit string) {
	if c.scratch == nil {
		return
	}
	for i, r := range c.scratch.rules {
		if r.Name == limit && !r.leased {
			if c.refunds == nil {
				c.refunds = make([]bool, len(c.scratch.rules))
			}
			c.refunds[i] = true
		}
	}
}

// End releases the slots of the call and gives back what was to be refunded. It does so once, even when the context that
// [Guard.Begin] was given has ended, and gives the store a second for it. It returns 10 ms after the deadline of that
// context, or after it was called if the context had ended, at the latest, and lets the store go on in the background, unless
// it does so for a thousand calls already. What goes wrong is for each [Observer], as it changes nothing about the call.
func (c *Call) End() {
	if c.ended.Swap(true) || c.scratch == nil {
		return
	}
	s := c.scratch
	c.scratch = nil
	defer s.release()
	kept := c.stop()
	back := s.charges[:0]
	for i, r := range s.rules {
		if !r.leased && (c.refunds == nil || !c.refunds[i]) {
			continue
		}
		if charge, ok := s.refund(i); ok {
			back = append(back, charge)
		}
	}
	c.guard.giveBack(c.caller, s.local, back, kept)
}
