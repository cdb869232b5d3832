package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// Guard holds the limits of one method. Generated code makes one for each limited method and asks it before each call.
// It is safe for concurrent use. The zero value and nil are not usable, but they let nothing pass.
type Guard struct {
	limiter *Limiter
	method  string
	rules   []rule   // as the directives have them
	wanted  []string // texts of the parts that each call gives for the keys
	err     error    // why the rules cannot be kept, told to each call: a method is never left unprotected

	overrides *atomic.Pointer[overrideTable] // of the limiter; nil as long as nothing is overridden
	plain     *plan                          // without
	planned   atomic.Pointer[plan]           // with the last ones
	planning  sync.Mutex                     // held to change planned
}

// Guard returns the guard of a method that has the given limits, all of which must allow a call. The method, e.g.
// "users.Service.Get", is for errors and recorders. It never returns nil: if a rule is invalid, or l is nil, every call
// fails with a [DecisionError].
func (l *Limiter) Guard(method string, rules ...Rule) *Guard {
	g := &Guard{limiter: l, method: method}
	var errs []error
	names := make(map[string]bool, len(rules))
	for _, r := range rules {
		compiled, err := compile(r, &g.wanted)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if names[compiled.Name] {
			errs = append(errs, fmt.Errorf("ratelimit: two limits are named %q", compiled.Name))
		}
		names[compiled.Name] = true
		g.rules = append(g.rules, compiled)
	}
	if l == nil || l.store == nil {
		errs = append(errs, errNoStore)
	}
	if g.err = errors.Join(errs...); g.err == nil {
		g.overrides = &l.overriding.table
		g.plain, _ = g.makePlan(nil) // without a table there is no error
		if l.limits.add(method, rules, g.rules) {
			l.overriding.mergeAgain()
		}
		if l.overriding.table.Load() != nil {
			g.overridden() // which tells what the limits cannot have
		}
	}
	return g
}

var errLeased = errors.New("ratelimit: a limit of the method is Concurrency: want Guard.Begin, whose Call ends")

// Allow charges the method's limits for one call and returns nil if the call may go on. Otherwise the error is a
// [*LimitError], when a limit refused, or a [*DecisionError], when the limiter cannot tell. With a [Rule.Wait] it returns
// when the call's turn has come, or ctx ends.
//
// The call gives a part for each {text} in the keys of the rules, in the order in which they name them first, then a
// [Cost] for each rule with CostArg and a [SkipIf] for each rule that may not be meant.
func (g *Guard) Allow(ctx context.Context, call ...Arg) error {
	if err := g.usable(); err != nil {
		return err
	}
	p := g.plan()
	if p.leased {
		return g.undecided(errLeased)
	}
	s := scratchPool.Get().(*scratch)
	var err error
	if p.only != nil && len(call) == len(g.wanted) {
		err = g.decideOnly(ctx, s, p.only, call)
	} else {
		err = g.decide(ctx, s, p, call)
	}
	if err == nil && s.delay > 0 {
		if ended := s.awaitTurn(ctx); ended != nil {
			g.giveUp(ctx, s)
			err = g.undecided(ended)
		}
	}
	s.release()
	return err
}

// usable returns an error unless the guard can decide calls.
func (g *Guard) usable() error {
	switch {
	case g == nil || g.limiter == nil && g.err == nil:
		return &DecisionError{Err: errNoStore}
	case g.err != nil:
		return g.undecided(g.err)
	}
	return nil
}

func (g *Guard) undecided(err error) error { return &DecisionError{Method: g.method, Err: err} }

// decide charges the limits of a call and keeps the charges in s. There are none when no limit is meant, or when the store
// cannot tell and such calls go on.
func (g *Guard) decide(ctx context.Context, s *scratch, p *plan, call args) error {
	s.method, s.waits = g.method, p.waits
	if err := call.check(len(g.wanted)); err != nil {
		return g.undecided(err)
	}
	holds, looks := p.holds, p.looks
	if p.choices != nil {
		holds, looks = p.choose(ctx, s)
	}
	for _, r := range holds {
		if err := g.charge(ctx, s, r, call); err != nil {
			return err
		}
	}
	if len(s.charges) > 0 {
		if err := g.take(ctx, s); err != nil {
			return err
		}
	}
	if len(looks) > 0 {
		g.shadow(ctx, s, looks, call)
	}
	return nil
}

// decideOnly is decide for a call that is like most: one limit holds, and nothing about its charge varies but the key.
// Without what is for others a call takes nine tenths of the time.
func (g *Guard) decideOnly(ctx context.Context, s *scratch, r *rule, call args) error {
	s.method = g.method
	if len(call) > 0 {
		if err := call.check(len(g.wanted)); err != nil {
			return g.undecided(err)
		}
	}
	key := r.charge.Key
	if r.parts != nil {
		var missing *part
		s.keys, missing = r.appendKey(s.keys, ctx, call)
		switch {
		case missing != nil && r.OnEmpty == EmptyAllow:
			return nil
		case missing != nil:
			return g.missing(ctx, s, r, missing)
		}
		key = s.keys
	}
	s.add(r).Key = key
	switch decided, err := g.limiter.take(ctx, s); {
	case err != nil:
		return g.undecided(err)
	case !decided:
		return nil
	}
	return g.conclude(ctx, s)
}

// take asks the limits about the charges in s.
func (g *Guard) take(ctx context.Context, s *scratch) error {
	var decided bool
	var err error
	if s.waits {
		decided, err = g.takeInTurn(ctx, s)
	} else {
		decided, err = g.limiter.take(ctx, s)
	}
	switch {
	case err != nil:
		return g.undecided(err)
	case !decided:
		s.keep(0)
		return nil
	}
	return g.conclude(ctx, s)
}

// charge adds to s what the call takes of one limit.
func (g *Guard) charge(ctx context.Context, s *scratch, r *rule, call args) error {
	if len(call) > len(g.wanted) && call.skips(r.Name) {
		return nil
	}
	cost, key := r.charge.Cost, r.charge.Key
	if r.CostArg {
		var err error
		if cost, err = call.cost(r.Name); err != nil {
			return g.undecided(err)
		}
		if r.Limit.tooManySlots(cost) {
			return g.undecided(fmt.Errorf("ratelimit: the cost of limit %s is %d: want at most %d slots a call", r.Name, cost, maxSlots))
		}
	}
	if r.parts != nil {
		start := len(s.keys)
		var missing *part
		s.keys, missing = r.appendKey(s.keys, ctx, call)
		if missing != nil {
			if r.OnEmpty == EmptyAllow {
				s.keys = s.keys[:start]
				return nil
			}
			return g.missing(ctx, s, r, missing)
		}
		key = s.keys[start:]
	}
	c := s.add(r)
	c.Cost, c.Key = cost, key
	early := s.waits || r.Refunds || s.timed && s.holder == "" // who gives up waiting, and Call.End, may give units back
	if early {
		c.Fresh = true
	}
	if r.leased {
		c.Holder = s.holder
	}
	if r.Prefetch > 0 {
		s.stocked = true
		if others := g.limiter.instances - 1; !early && others < r.Limit.Capacity()/r.Prefetch {
			c.elsewhere = others * r.Prefetch
		}
	}
	return nil
}

// conclude records the decision that s holds and returns the refusal if it is one.
func (g *Guard) conclude(ctx context.Context, s *scratch) error {
	recorder := recorderOf(ctx)
	refused := 0
	for i := range s.results {
		if !s.results[i].Allowed {
			refused++
		}
	}
	if recorder == nil && refused == 0 && !g.limiter.observed {
		return nil
	}
	for i := range s.charges {
		s.outcomes = append(s.outcomes, Outcome{Name: s.charges[i].Name, Limit: s.charges[i].Limit, Result: s.results[i]})
	}
	if recorder != nil {
		recorder.Record(g.method, s.outcomes)
	}
	g.limiter.tellDecision(ctx, s, EventDecision, 0)
	if refused == 0 {
		return nil
	}
	return g.refusal(s, refused)
}

// refusal is kept apart so that calls that are allowed pay nothing for it.
func (g *Guard) refusal(s *scratch, n int) *LimitError {
	e := &LimitError{Method: g.method, Refused: make([]Outcome, 0, n)}
	for i, o := range s.outcomes {
		if o.Result.Allowed {
			continue
		}
		e.Refused = append(e.Refused, o)
		if n := len(e.Refused); n == 1 || o.Result.RetryAfter > e.Result.RetryAfter {
			r := s.rules[i]
			e.Name, e.Limit, e.Result = o.Name, o.Limit, o.Result
			e.Key, e.Status, e.Message = string(s.charges[i].Key), r.Status, r.Message
		}
	}
	return e
}

// missing is the refusal of a call that lacks a part of its key: no wait can help it.
func (g *Guard) missing(ctx context.Context, s *scratch, r *rule, p *part) *LimitError {
	result := Result{Limit: r.Limit.Capacity(), RetryAfter: Never}
	if !s.shadow {
		s.outcomes = append(s.outcomes[:0], Outcome{Name: r.Name, Limit: r.Limit, Result: result})
		g.limiter.tellDecision(ctx, s, EventDecision, 1)
	}
	return &LimitError{
		Method:  g.method,
		Name:    r.Name,
		Limit:   r.Limit,
		Result:  result,
		Status:  r.Status,
		Message: r.Message,
		Missing: p.name,
		given:   p.kind == givenPart,
		Refused: []Outcome{{Name: r.Name, Limit: r.Limit, Result: result}},
	}
}
