package ratelimit

import (
	"context"
	"errors"
)

// shadow charges the limits that only look on, of a call that goes on whatever they say. What they took is added to s, so
// that it is given back with the rest.
func (g *Guard) shadow(ctx context.Context, s *scratch, call args) {
	t := scratchPool.Get().(*scratch)
	defer t.release()
	t.holder, t.timed = s.holder, s.timed
	for i := range g.shadows {
		r := &g.shadows[i]
		var lacking *LimitError
		switch err := g.charge(ctx, t, r, call); {
		case err == nil:
		case errors.As(err, &lacking): // a part of the key
			t.outcomes = append(t.outcomes, lacking.Refused...)
		default:
			g.troubles.tell(err)
		}
	}
	charged := false
	if len(t.charges) > 0 {
		charged = g.look(ctx, s, t)
	}
	if charged {
		for i := range t.charges {
			t.outcomes = append(t.outcomes, Outcome{Name: t.charges[i].Name, Limit: t.charges[i].Limit, Result: t.results[i]})
			charged = charged && t.results[i].Allowed
		}
	}
	if recorder := recorderOf(ctx); recorder != nil && len(t.outcomes) > 0 {
		for i := range t.outcomes {
			t.outcomes[i].Shadow = true
		}
		recorder.Record(g.method, t.outcomes)
	}
	if charged && s.timed {
		g.adopt(ctx, s, t)
	}
}

// look reports whether the limits in t, which only look on, have decided. A store that has just failed those in s, which
// hold, is not asked again: one call would take the time of two.
func (g *Guard) look(ctx context.Context, s, t *scratch) bool {
	var decided bool
	var err error
	if s.failed != nil {
		decided, err = g.limiter.fail(ctx, t, &g.troubles, s.failed)
	} else {
		decided, err = g.limiter.take(ctx, t, &g.troubles)
	}
	if err != nil && ctx.Err() == nil {
		g.troubles.tell(err)
	}
	return decided && err == nil
}

// adopt adds the charges of t to s.
func (g *Guard) adopt(ctx context.Context, s, t *scratch) {
	if len(s.charges) == 0 {
		s.local, s.asked = t.local, t.asked
	}
	if s.local != t.local { // they are given back to one store: the one that answers the call
		g.giveBack(ctx, t.local, t.charges, true)
		return
	}
	for i, c := range t.charges {
		start := len(s.keys)
		s.keys = append(s.keys, c.Key...)
		c.Key = s.keys[start:]
		s.rules, s.charges, s.results = append(s.rules, t.rules[i]), append(s.charges, c), append(s.results, t.results[i])
	}
}
