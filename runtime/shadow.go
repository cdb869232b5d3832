package ratelimit

import (
	"context"
	"errors"
)

// shadow charges the limits that only look on, of a call that goes on whatever they say. What they took is added to s, so
// that it is given back with the rest.
func (g *Guard) shadow(ctx context.Context, s *scratch, looks []*rule, call args) {
	t := scratchPool.Get().(*scratch)
	defer t.release()
	t.method, t.waits, t.holder, t.timed, t.shadow = g.method, s.waits, s.holder, s.timed, true
	for _, r := range looks {
		var lacking *LimitError
		switch err := g.charge(ctx, t, r, call); {
		case err == nil:
		case errors.As(err, &lacking): // a part of the key
			t.outcomes = append(t.outcomes, lacking.Refused...)
		default:
			g.limiter.trouble(ctx, g.method, err)
		}
	}
	keyless := len(t.outcomes)
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
	if len(t.outcomes) > 0 {
		for i := range t.outcomes {
			t.outcomes[i].Shadow = true
		}
		if recorder := recorderOf(ctx); recorder != nil {
			recorder.Record(g.method, t.outcomes)
		}
		g.limiter.tellDecision(ctx, t, EventShadow, keyless)
	}
	if charged && s.timed {
		g.adopt(ctx, s, t)
	}
}

// look reports whether the limits in t, which only look on, have decided. A store that has just failed those in s, which
// hold, is not asked again: one call would take the time of two.
func (g *Guard) look(ctx context.Context, s, t *scratch) bool {
	if s.failed != nil { // which was told
		became, err := g.limiter.fail(ctx, t, s.failed)
		return became == FailLocal && err == nil
	}
	decided, err := g.limiter.take(ctx, t)
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
