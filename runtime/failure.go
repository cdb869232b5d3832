package ratelimit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// Failure says what becomes of a call when the store cannot answer.
type Failure string

const (
	// FailLocal decides the call in this process's memory, see [LocalStore] and [Instances]. Where there is no such store
	// it is FailClosed.
	FailLocal Failure = "local"
	// FailOpen lets the call go on as if the limit were not there.
	FailOpen Failure = "open"
	// FailClosed makes the call return a [DecisionError].
	FailClosed Failure = "closed"
)

// valid reports whether f is one of the constants.
func (f Failure) valid() bool { return f == FailLocal || f == FailOpen || f == FailClosed }

// OnFailure says what becomes of calls when the store cannot answer, unless [Rule.Fail] says otherwise. The default is
// [FailLocal]. It has no effect on a call whose own context has ended, nor on one that the store could not decide even if
// all were well, see [ErrMisconfigured]: those return a [DecisionError] whatever it says. [Call.Context] has what becomes of
// calls that hold slots by then. Why the store could not answer is for each [Observer].
func OnFailure(f Failure) Option {
	return optionFunc(func(l *Limiter) error {
		if !f.valid() {
			return fmt.Errorf("ratelimit: OnFailure(%q): want FailLocal, FailOpen or FailClosed", string(f))
		}
		l.failure = f
		return nil
	})
}

// LocalStore says which Store decides under [FailLocal], e.g. that of package memlimit. The default is what the Limiter's
// own store brings by a method Local() Store, as that of package redislimit does. It knows nothing of what was used in the
// other store.
func LocalStore(store Store) Option {
	return optionFunc(func(l *Limiter) error {
		if store == nil {
			return errors.New("ratelimit: LocalStore(nil): want a Store")
		}
		l.local = store
		return nil
	})
}

// Instances says how many processes share the store's limits, so that each enforces its share of them under [FailLocal]:
// Count and Burst divided by n, rounded up, and no less than the cost of the call. The default is 1: each enforces the
// whole limit. Where it is said, units that were taken in advance may lie in a process for longer, see [Rule.Prefetch]:
// there should not be more processes than that, not even while new ones take over.
func Instances(n int) Option {
	return optionFunc(func(l *Limiter) error {
		if n < 1 {
			return fmt.Errorf("ratelimit: Instances(%d): want at least 1", n)
		}
		l.instances = int64(n)
		return nil
	})
}

// localOf returns the store that another one brings for the time when it does not answer itself, or nil.
func localOf(store Store) Store {
	if s, ok := store.(interface{ Local() Store }); ok {
		return s.Local()
	}
	return nil
}

// failureOf returns what becomes of the calls of a limit when the store cannot answer.
func (l *Limiter) failureOf(r *rule) Failure {
	switch failure := cmp.Or(r.Fail, l.failure); {
	case failure == FailLocal && l.local == nil:
		return FailClosed
	default:
		return failure
	}
}

// fail decides a call that the store cannot decide, as the limits say, and returns which of them did: with FailLocal s holds
// what the local store has decided, and with FailClosed there is an error.
func (l *Limiter) fail(ctx context.Context, s *scratch, cause error) (Failure, error) {
	s.save(cause)
	n := 0
	for i, r := range s.rules {
		switch l.failureOf(r) {
		case FailOpen:
			continue
		case FailClosed:
			return FailClosed, cause
		}
		c := s.charges[i]
		c.Limit = l.share(c.Limit, c.Cost)
		s.rules[n], s.charges[n] = r, c
		n++
	}
	s.keep(n)
	if n == 0 {
		return FailOpen, nil
	}
	s.local = true
	if s.timed {
		s.asked = time.Now() // the other store may have taken its time
	}
	if err := l.local.Take(ctx, s.charges, s.results); err != nil {
		return FailClosed, fmt.Errorf("%w; then locally: %w", cause, err)
	}
	return FailLocal, nil
}

// decider returns the store that has decided, which is where to give back.
func (l *Limiter) decider(local bool) Store {
	if local {
		return l.local
	}
	return l.store
}

// share returns this process's part of a limit.
func (l *Limiter) share(whole Limit, cost int64) Limit {
	if l.instances == 1 {
		return whole
	}
	part := whole
	part.Count = l.divide(whole.Count, cost)
	if whole.Burst > 0 {
		part.Burst = l.divide(whole.Burst, cost)
	}
	if part.Validate() != nil { // rounded to one that takes too long to refill
		return whole
	}
	return part
}

func (l *Limiter) divide(n, least int64) int64 {
	return min(n, max((n+l.instances-1)/l.instances, least))
}
