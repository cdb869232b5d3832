package ratelimit

import (
	"cmp"
	"context"
	"maps"
	"sync/atomic"
)

// maxVariants bounds how many rules are kept of one limit for what [OverrideBy] returned. With more, it begins anew.
const maxVariants = 256

// choice is how one limit holds for each caller under one table of overrides.
type choice struct {
	id      string
	limiter *Limiter
	base    *rule         // as the directive has it
	least   Mode          // that of the whole Limiter
	plain   *rule         // for callers that are not named
	own     change        // by which plain is made
	callers callerTable   // those that are named, by the number of their entry
	named   []choiceEntry // by that number
	by      func(ctx context.Context, limit string) (Override, bool)
	made    atomic.Pointer[map[change]*rule] // what by has asked for; of what the limit cannot have, nil
}

type choiceEntry struct {
	rule   *rule
	change change // by which it is made
}

// newChoice returns the choice of a limit under a table, which may be nil. The error says what the limit cannot have: then
// it holds as the directive says.
func newChoice(base *rule, id string, l *Limiter, t *overrideTable) (*choice, error) {
	c := &choice{id: id, limiter: l, base: base, least: l.mode}
	if t == nil {
		c.plain = base.capped(c.least)
		return c, nil
	}
	c.least, c.by = t.mode, t.by
	o, err := t.of(knownLimit{LimitInfo: LimitInfo{ID: id}, base: base})
	c.own = o.change()
	c.plain = c.with(c.own)
	if len(o.Callers) == 0 {
		return c, err
	}
	c.callers = newCallerTable(o.Callers)
	c.named = make([]choiceEntry, len(o.Callers))
	known := map[change]*rule{c.own: c.plain} // many callers have the same
	for i := range o.Callers {
		asked := o.Callers[i].change().over(c.own)
		if known[asked] == nil {
			known[asked] = c.with(asked)
		}
		c.named[i] = choiceEntry{known[asked], asked}
	}
	return c, err
}

// with returns the rule with a change that it can have.
func (c *choice) with(asked change) *rule {
	r, err := c.base.with(asked)
	if err != nil { // not after checkFor
		r = c.base
	}
	return r.capped(c.least)
}

// capped returns the rule as it is if nothing holds more strictly than that mode.
func (r *rule) capped(least Mode) *rule {
	if r.Mode >= least {
		return r
	}
	v := *r
	v.Mode = least
	v.charge.Fresh = true // what looks on is there to be measured
	return &v
}

// varies reports whether it depends on the call how the limit holds.
func (c *choice) varies() bool { return c.by != nil || c.callers != nil }

// may reports whether the limit is in that mode for some call.
func (c *choice) may(m Mode) bool {
	if c.plain.Mode == m || c.by != nil && c.least <= m {
		return true
	}
	for i := range c.named {
		if c.named[i].rule.Mode == m {
			return true
		}
	}
	return false
}

// choose returns the rule for a call.
func (c *choice) choose(ctx context.Context) *rule {
	r, held := c.plain, c.own
	if entry, ok := c.callers.find(ctx); ok {
		r, held = c.named[entry].rule, c.named[entry].change
	}
	if c.by == nil {
		return r
	}
	o, ok := c.by(ctx, c.id)
	if !ok {
		return r
	}
	asked := o.change().over(held)
	if asked == held {
		return r
	}
	made := c.made.Load()
	if made == nil {
		return cmp.Or(c.try(ctx, asked), r)
	}
	known, ok := (*made)[asked]
	if !ok {
		known = c.try(ctx, asked)
	}
	return cmp.Or(known, r)
}

// try returns the rule with a change that is asked for the first time, or nil if the limit cannot have it, and remembers it.
func (c *choice) try(ctx context.Context, asked change) *rule {
	err := asked.check()
	var r *rule
	if err == nil {
		r, err = c.base.with(asked)
	}
	if r != nil {
		r = r.capped(c.least)
	}
	old := c.made.Load()
	made := map[change]*rule{}
	if old != nil && len(*old) < maxVariants {
		made = maps.Clone(*old)
	}
	made[asked] = r
	c.made.CompareAndSwap(old, &made) // or another call has made one meanwhile
	if err != nil {
		c.limiter.overriding.wrong(ctx, c.id, inOverride(c.id, "by OverrideBy", err))
	}
	return r
}
