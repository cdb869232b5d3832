package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Limiter decides calls by asking a [Store]. It is safe for concurrent use, and one serves a whole process. The zero
// value and nil are not usable, but they let nothing pass: every decision is a [DecisionError]. There is nothing to close but
// what a rule has taken in advance, see [Limiter.Close].
type Limiter struct {
	store      Store
	local      Store // decides under FailLocal; may be nil
	failure    Failure
	instances  int64
	report     func(method string, err error)
	troubles   troubles // of calls without a method
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

// OnError has report called with errors that no caller can be given, since its call goes on or is over: a store that could
// not decide, where [FailLocal] or [FailOpen] did, or of a limit that only looks on; slots or units that could not be given
// back; and a lease that was lost. The method is that of the [Guard], and empty for [Limiter.Allow].
//
// Each lease that is lost is told. Of the other errors, a method tells one a minute at most, and none while the store, or a
// server of it, is Away, see [Store], which the store tells by itself, nor in the minute after that. Report may be called by
// several goroutines at once and must not block. The default writes to [slog.Default].
func OnError(report func(method string, err error)) Option {
	return optionFunc(func(l *Limiter) error {
		if report == nil {
			return errors.New("ratelimit: OnError(nil): want a function")
		}
		l.report = report
		return nil
	})
}

func logError(method string, err error) {
	slog.Warn("rate limit", "method", method, "error", err)
}

// New returns a Limiter that asks store. It returns an error if store is nil or an option is invalid.
func New(store Store, opts ...Option) (*Limiter, error) {
	l := &Limiter{store: store, failure: FailLocal, instances: 1, report: logError}
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
	l.troubles.report = l.report
	l.stock = newStock(store, l.troubles.tell)
	return l, nil
}

var errSlots = errors.New("ratelimit: Concurrency needs a call that ends: want Guard.Begin")

var errNoStore = errors.New("ratelimit: no store: make Limiters by New and decorators by their constructors")

// Allow takes one unit of the bucket that key names and reports whether the call may go on. It is for the places that
// have no interface to annotate. The key may be any text; all of it is one part of an identity, so that a ':' in it is
// escaped. The limit is named for its period.
//
// The error is a [*DecisionError] that wraps the cause: an invalid limit, or a store that did not answer. With
// [FailOpen] an unanswered call is allowed and the rest of the Result is zero.
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
	decided, err := l.take(ctx, s, &l.troubles)
	if err != nil {
		return Result{}, &DecisionError{Err: err}
	}
	if !decided {
		return Result{Allowed: true}, nil
	}
	if recorder := recorderOf(ctx); recorder != nil {
		s.outcomes = append(s.outcomes, Outcome{Name: s.charges[0].Name, Limit: s.charges[0].Limit, Result: s.results[0]})
		recorder.Record("", s.outcomes)
	}
	return s.results[0], nil
}

// noRule is that of a call without a [Guard].
var noRule rule

// take asks the store about the charges in s, which are valid. When it cannot answer, the call is decided as the limits say:
// there is an error, or decided is false if the call is let pass, and the troubles of its method are told.
func (l *Limiter) take(ctx context.Context, s *scratch, t *troubles) (decided bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s.restore()
	s.local = false
	if s.timed {
		s.asked = time.Now()
	}
	if s.stocked {
		err = l.stock.Take(ctx, s.charges, s.results)
	} else {
		err = l.store.Take(ctx, s.charges, s.results)
	}
	if err == nil {
		return true, nil
	}
	if s.holder != "" && !isAway(err) {
		l.disown(s, t)
	}
	switch ended := ctx.Err(); {
	case ended != nil && !errors.Is(err, ended):
		return false, fmt.Errorf("%w: %w", ended, err)
	case ended != nil || errors.Is(err, ErrMisconfigured):
		return false, err
	}
	return l.fail(ctx, s, t, err)
}
