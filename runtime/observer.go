package ratelimit

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"
)

// An Observer is told what a [Limiter] does: each decision, and what no caller is told. [Log] is one.
type Observer interface {
	// Observe is told one event: of a decision, and of a store that could not decide, in the goroutine of the call and before
	// that goes on. It may be called by several goroutines at once. It must not block, and must neither change e, nor keep it or
	// what it holds. Should it panic, the call goes on all the same, and what it panicked with is written to
	// [slog.Default], once a minute at most.
	//
	// The context is that of the call, which may have ended, or one without values for what is about no call.
	Observe(ctx context.Context, e *Event)
}

// Observe has observers told what the Limiter does, in order, after those of other such options. By default,
// [slog.Default] is told what goes wrong, as by [Log], but of no refusals. Observe() has nobody told.
func Observe(observers ...Observer) Option {
	return optionFunc(func(l *Limiter) error {
		for i, o := range observers {
			if o == nil {
				return fmt.Errorf("ratelimit: Observe: observer %d is nil: want an Observer", i+1)
			}
		}
		l.observers = append(l.observers, observers...)
		l.observable, l.observed = true, len(l.observers) > 0
		return nil
	})
}

// tell tells the observers of an event.
func (l *Limiter) tell(ctx context.Context, e *Event) {
	for _, o := range l.observers {
		l.tellOne(ctx, o, e)
	}
}

// tellOne does not let a panic through: units and slots that the call has taken by now would be lost.
func (l *Limiter) tellOne(ctx context.Context, o Observer, e *Event) {
	defer func() {
		if p := recover(); p != nil && l.panics.isDue(time.Now()) {
			slog.Error("ratelimit: an Observer panicked", "event", e.Kind.String(), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	o.Observe(ctx, e)
}

// trouble tells of an error that no caller is given.
func (l *Limiter) trouble(ctx context.Context, method string, err error) {
	l.tell(ctx, &Event{Kind: EventTrouble, Method: method, Err: err})
}

// tellDecision tells what the limits in s have answered, of which the first few had no key.
func (l *Limiter) tellDecision(ctx context.Context, s *scratch, kind EventKind, keyless int) {
	if !l.observed {
		return
	}
	s.event = Event{
		Kind: kind, Method: s.method, Outcomes: s.outcomes, Took: s.took, Local: s.local,
		charges: s.charges, keyless: keyless,
	}
	l.tell(ctx, &s.event)
	s.event = Event{}
}

// tellFailure tells what became of a call that the store could not decide.
func (l *Limiter) tellFailure(ctx context.Context, s *scratch, became Failure, cause error) {
	if s.shadow && became == FailClosed {
		became = FailOpen // the call goes on
	}
	s.told = true
	s.event = Event{Kind: EventStoreError, Method: s.method, Failure: became, Err: cause}
	l.tell(ctx, &s.event)
	s.event = Event{}
}
