package ratelimit

import (
	"context"
	"errors"
)

// plan is how the limits of a [Guard] hold under one table of overrides. It is not changed once it is made. A call that has
// begun by one ends by it.
type plan struct {
	of      *overrideTable // nil if there are no overrides
	holds   []*rule        // limits that hold
	looks   []*rule        // limits that only look on
	choices []*choice      // of all limits, in place of these, if it depends on the call how they hold
	only    *rule          // the limit, if there is one and it holds for all calls alike, or else nil
	leased  bool           // whether a call may hold slots
	waits   bool           // whether a limit that holds may have a Wait
}

// plan returns the plan of a call that begins now. It is small enough to be inlined.
func (g *Guard) plan() *plan {
	if g.overrides.Load() == nil {
		return g.plain
	}
	return g.overridden()
}

// overridden is plan where something is overridden.
func (g *Guard) overridden() *plan {
	t := g.overrides.Load()
	if t == nil { // not any more
		return g.plain
	}
	if p := g.planned.Load(); p != nil && p.of == t {
		return p
	}
	p, err := g.replan(t)
	if err != nil { // the guard was made after the overrides were taken
		g.limiter.tell(context.Background(), &Event{Kind: EventOverrides, Method: g.method, Err: err})
	}
	return p
}

// replan makes the plan for a table once, for all calls that want it. The error is that of making it.
func (g *Guard) replan(t *overrideTable) (*plan, error) {
	g.planning.Lock()
	defer g.planning.Unlock()
	if p := g.planned.Load(); p != nil && p.of == t {
		return p, nil
	}
	p, err := g.makePlan(t)
	g.planned.Store(p)
	return p, err
}

// makePlan returns the plan for a table of overrides, which may be nil. The error says what limits cannot have of it: they hold as
// their directives say.
func (g *Guard) makePlan(t *overrideTable) (*plan, error) {
	p := &plan{of: t}
	varies := false
	var errs []error
	choices := make([]*choice, len(g.rules))
	for i := range g.rules {
		c, err := newChoice(&g.rules[i], LimitID(g.method, g.rules[i].Name), g.limiter, t)
		errs = append(errs, err)
		choices[i] = c
		varies = varies || c.varies()
		p.leased = p.leased || c.plain.leased && (c.may(ModeEnforce) || c.may(ModeShadow))
		p.waits = p.waits || c.plain.Wait > 0 && c.may(ModeEnforce)
	}
	if varies {
		p.choices = choices
		return p, errors.Join(errs...)
	}
	for _, c := range choices {
		p.holds, p.looks = c.plain.enlist(p.holds, p.looks)
	}
	if len(p.holds) == 1 && len(p.looks) == 0 && p.holds[0].isPlain() {
		p.only = p.holds[0]
	}
	return p, errors.Join(errs...)
}

// isPlain reports whether calls that the limit counts differ in their keys only.
func (r *rule) isPlain() bool { return !r.leased && !r.CostArg && r.Wait == 0 && r.Prefetch == 0 }

// enlist appends the rule to those that hold or to those that only look on, or to neither if it is off.
func (r *rule) enlist(holds, looks []*rule) (newHolds, newLooks []*rule) {
	switch r.Mode {
	case ModeEnforce:
		return append(holds, r), looks
	case ModeShadow:
		return holds, append(looks, r)
	}
	return holds, looks
}

// choose returns the limits that hold for a call, and those that only look on, of a plan with choices. They are kept in s.
func (p *plan) choose(ctx context.Context, s *scratch) (holds, looks []*rule) {
	s.holding, s.looking = s.holding[:0], s.looking[:0]
	for _, c := range p.choices {
		s.holding, s.looking = c.choose(ctx).enlist(s.holding, s.looking)
	}
	return s.holding, s.looking
}
