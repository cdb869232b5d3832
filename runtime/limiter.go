package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Limiter decides calls by asking a [Store]. It is safe for concurrent use, and one serves a whole process. The zero
// value and nil are not usable, but they let nothing pass: every decision is a [DecisionError]. [Limiter.Close] gives back what
// rules have taken in advance, and ends what [Limiter.Watch] has begun; without these there is nothing to close.
type Limiter struct {
	store      Store
	local      Store // decides under FailLocal; may be nil
	failure    Failure
	instances  int64
	mode       Mode
	observers  []Observer
	observable bool // whether there was an Observe
	observed   bool // whether decisions are told
	panics     throttle
	limits     limits
	overriding overriding
	leases     leases
	stock      *stock
	lines      lines
	disowning  crowd
	givingBack crowd
}

// Option changes a [Limiter] at its construction.
type Option interface{ apply(*Limiter) error }

type optionFunc func(*Limiter) error

func (f optionFunc) apply(l *Limiter) error { return f(l) }

// New returns a Limiter that asks store. It returns an error if store is nil or an option is invalid.
func New(store Store, opts ...Option) (*Limiter, error) {
	l := &Limiter{store: store, failure: FailLocal, instances: 1}
	l.overriding.limiter = l
	l.leases = leases{limiter: l, changed: make(chan struct{}, 1)}
	if store == nil {
		return nil, errNoStore
	}
	for i, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("ratelimit: option %d is nil: want an Option", i+1)
		}
		if err := opt.apply(l); err != nil {
			return nil, err
		}
	}
	if l.local == nil {
		l.local = localOf(store)
	}
	if !l.observable {
		l.observers = []Observer{newLog(nil, false)}
	}
	l.overriding.merge()
	l.stock = newStock(store, func(err error) { l.trouble(context.Background(), "", err) })
	if w, ok := store.(outageWatcher); ok {
		l.watchOutages(w)
	}
	return l, nil
}

var errSlots = errors.New("ratelimit: Concurrency needs a call that ends: want Guard.Begin")

var errNoStore = errors.New("ratelimit: no store: make Limiters by New and decorators by their constructors")

// Allow takes one unit of the bucket that key names and reports whether the call may go on. It is for the places that
// have no interface to annotate. The key may be any text; all of it is one part of an identity, so that a ':' in it is
// escaped. The limit is named for its period.
//
// The error is a [*DecisionError] that wraps the cause: an invalid limit, or a store that did not answer. With
// [FailOpen] an unanswered call is allowed and the rest of the Result is zero. Of the Limiter's mode it is as [WithMode] says: with
// [ModeShadow] the Result is allowed and tells how the bucket stands, with [ModeOff] the rest of it is zero.
func (l *Limiter) Allow(ctx context.Context, key string, limit Limit) (Result, error) {
	return l.AllowN(ctx, key, limit, 1)
}

// AllowN is [Limiter.Allow] for n units. With n = 0 it takes nothing, and is always allowed; a negative n is an error.
func (l *Limiter) AllowN(ctx context.Context, key string, limit Limit, n int64) (Result, error) {
	s := scratchPool.Get().(*scratch)
	defer s.release()
	s.keys = appendPart(s.keys, key)
	s.charges = append(s.charges, Charge{Key: s.keys, Name: periodName(limit.Period), Limit: limit, Cost: n})
	s.results = append(s.results, Result{})
	s.rules = append(s.rules, &noRule)
	if err := CheckCharges(s.charges); err != nil {
		return Result{}, &DecisionError{Err: err}
	}
	if limit.Algorithm == Concurrency {
		return Result{}, &DecisionError{Err: errSlots}
	}
	if l == nil || l.store == nil {
		return Result{}, &DecisionError{Err: errNoStore}
	}
	mode := l.overriding.mode()
	if mode == ModeOff {
		return Result{Allowed: true}, nil
	}
	s.method, s.shadow = "", mode == ModeShadow
	decided, err := l.take(ctx, s)
	if err != nil && !s.shadow {
		return Result{}, &DecisionError{Err: err}
	}
	if !decided || err != nil {
		return Result{Allowed: true}, nil
	}
	l.concludeAllow(ctx, s)
	result := s.results[0]
	if s.shadow {
		result.Allowed, result.RetryAfter = true, 0
	}
	return result, nil
}

// concludeAllow tells what was decided of a call without a [Guard].
func (l *Limiter) concludeAllow(ctx context.Context, s *scratch) {
	recorder := recorderOf(ctx)
	if recorder == nil && !l.observed {
		return
	}
	s.outcomes = append(s.outcomes, Outcome{Name: s.charges[0].Name, Limit: s.charges[0].Limit, Result: s.results[0], Shadow: s.shadow})
	if recorder != nil {
		recorder.Record("", s.outcomes)
	}
	kind := EventDecision
	if s.shadow {
		kind = EventShadow
	}
	l.tellDecision(ctx, s, kind, 0)
}

// noRule is that of a call without a [Guard].
var noRule rule

// take asks the store about the charges in s, which are valid. When it cannot answer, the call is decided as the limits say:
// there is an error, or decided is false if the call is let pass.
func (l *Limiter) take(ctx context.Context, s *scratch) (decided bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s.restore()
	s.local = false
	if s.timed || l.observed {
		s.asked = time.Now()
	}
	began := s.asked
	if s.stocked {
		err = l.stock.Take(ctx, s.charges, s.results)
	} else {
		err = l.store.Take(ctx, s.charges, s.results)
	}
	if err != nil {
		return l.takeOtherwise(ctx, s, began, err)
	}
	if l.observed {
		s.took += time.Since(began)
	}
	return true, nil
}

// takeOtherwise is what take does when the store could not decide, for that cause.
func (l *Limiter) takeOtherwise(ctx context.Context, s *scratch, began time.Time, cause error) (decided bool, err error) {
	if s.holder != "" && !isAway(cause) {
		l.disown(ctx, s)
	}
	switch ended := ctx.Err(); {
	case ended != nil && !errors.Is(cause, ended):
		return false, fmt.Errorf("%w: %w", ended, conceal(cause, ended))
	case ended != nil:
		return false, conceal(cause, ended)
	}
	became, err := FailClosed, cause
	if !errors.Is(cause, ErrMisconfigured) {
		became, err = l.fail(ctx, s, cause)
	}
	if l.observed {
		s.took += time.Since(began)
	}
	if err != nil {
		cause = err // what else went wrong is in it
	}
	if !s.told { // or this is another try of a call that waits
		l.tellFailure(ctx, s, became, cause)
	}
	return became == FailLocal, conceal(err, ctx.Err())
}
