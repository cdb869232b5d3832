package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Guard holds the limits of one method. Generated code makes one for each limited method and asks it before each call.
// It is safe for concurrent use. The zero value and nil are not usable, but they let nothing pass.
type Guard struct {
	limiter *Limiter
	method  string
	rules   []rule
	err     error // why the rules cannot be kept, told to each call: a method is never left unprotected
}

// Guard returns the guard of a method that has the given limits, all of which must allow a call. The method, e.g.
// "users.Service.Get", is for errors and recorders. It never returns nil: if a rule is invalid, or l is nil, every call
// fails with a [DecisionError].
func (l *Limiter) Guard(method string, rules ...Rule) *Guard {
	g := &Guard{limiter: l, method: method, rules: make([]rule, len(rules))}
	var errs []error
	names := make(map[string]bool, len(rules))
	for i, r := range rules {
		var err error
		if g.rules[i], err = compile(r); err != nil {
			errs = append(errs, err)
			continue
		}
		if name := g.rules[i].Name; names[name] {
			errs = append(errs, fmt.Errorf("ratelimit: two limits are named %q", name))
		} else {
			names[name] = true
		}
	}
	if l == nil || l.store == nil {
		errs = append(errs, errNoStore)
	}
	g.err = errors.Join(errs...)
	return g
}

// Allow charges the method's limits for one call and returns nil if the call may go on. Otherwise the error is a
// [*LimitError], when a limit refused, or a [*DecisionError], when the limiter cannot tell.
func (g *Guard) Allow(ctx context.Context) error {
	if g == nil || g.limiter == nil && g.err == nil {
		return &DecisionError{Err: errNoStore}
	}
	if g.err != nil {
		return &DecisionError{Method: g.method, Err: g.err}
	}
	s := scratchPool.Get().(*scratch)
	defer s.release()

	for i := range g.rules {
		r := &g.rules[i]
		start := len(s.keys)
		var missing string
		s.keys, missing = r.appendKey(s.keys, ctx)
		if missing != "" {
			if r.OnEmpty == Allow {
				s.keys = s.keys[:start]
				continue
			}
			return g.missing(r, missing)
		}
		s.rules = append(s.rules, r)
		s.charges = append(s.charges, Charge{Key: s.keys[start:], Name: r.Name, Limit: r.Limit, Cost: r.Cost})
		s.results = append(s.results, Result{})
	}
	if len(s.charges) == 0 {
		return nil
	}

	decided, err := g.limiter.take(ctx, s)
	if err != nil {
		return &DecisionError{Method: g.method, Err: err}
	}
	if !decided {
		return nil
	}
	return g.conclude(ctx, s)
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
	if recorder == nil && refused == 0 {
		return nil
	}
	for i, r := range s.rules {
		s.outcomes = append(s.outcomes, Outcome{Name: r.Name, Limit: r.Limit, Result: s.results[i]})
	}
	if recorder != nil {
		recorder.Record(g.method, s.outcomes)
	}
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

// missing is the refusal of a call whose context lacks a caller attribute: no wait can help it.
func (g *Guard) missing(r *rule, attribute string) *LimitError {
	result := Result{Limit: r.Limit.Capacity(), RetryAfter: Never}
	return &LimitError{
		Method:  g.method,
		Name:    r.Name,
		Limit:   r.Limit,
		Result:  result,
		Status:  r.Status,
		Message: r.Message,
		Missing: attribute,
		Refused: []Outcome{{Name: r.Name, Limit: r.Limit, Result: result}},
	}
}

// scratch is the memory of one decision, reused so that a decision allocates nothing. Charges are passed to a Store
// through an interface, so that they cannot live on the stack.
type scratch struct {
	keys     []byte
	rules    []*rule
	charges  []Charge
	results  []Result
	outcomes []Outcome
}

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

func (s *scratch) release() {
	clear(s.charges) // its keys may be in an array that has been outgrown
	clear(s.rules)
	s.keys, s.rules, s.charges, s.results, s.outcomes = s.keys[:0], s.rules[:0], s.charges[:0], s.results[:0], s.outcomes[:0]
	scratchPool.Put(s)
}
