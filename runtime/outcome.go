package ratelimit

import "context"

// Outcome is what one limit answered to one call.
type Outcome struct {
	Name   string // name of the limit
	Limit  Limit
	Result Result
	Shadow bool // whether the limit only looks on: a call that it refused went on all the same
}

// MostExhausted returns the outcome that holds a caller back most: of those that refused, the one with the longest
// wait; if none did, the one with the smallest share of its capacity left, and of equal ones the one that takes longest
// to be as new. It is the zero Outcome if there are none.
func MostExhausted(outcomes []Outcome) Outcome {
	if len(outcomes) == 0 {
		return Outcome{}
	}
	worst := &outcomes[0]
	for i := range outcomes[1:] {
		if o := &outcomes[i+1]; o.moreExhausted(worst) {
			worst = o
		}
	}
	return *worst
}

func (o *Outcome) moreExhausted(p *Outcome) bool {
	r, s := &o.Result, &p.Result
	if r.Allowed != s.Allowed {
		return !r.Allowed
	}
	if r.RetryAfter != s.RetryAfter {
		return r.RetryAfter > s.RetryAfter
	}
	// Remaining and Limit are at most 1e9, so that the products fit.
	if left, right := r.Remaining*s.Limit, s.Remaining*r.Limit; left != right {
		return left < right
	}
	return r.ResetAfter > s.ResetAfter
}

// A Recorder is told what was decided about the calls of one context, e.g. to put it into a response.
type Recorder interface {
	// Record is given the outcome of each limit of a call, in the order of the directives. Limits that only look on come
	// in a call of their own, after it. The method is empty for
	// [Limiter.Allow]. It may be called by several goroutines at once, must neither block nor panic,
	// and must not keep outcomes.
	Record(method string, outcomes []Outcome)
}

// WithRecorder returns a context for whose calls recorder is told each decision, after the recorders of the parent
// context. An undecided call, and one that a limit that holds refuses for want of a part of its key, is not recorded.
func WithRecorder(ctx context.Context, recorder Recorder) context.Context {
	c := newCallContext(ctx)
	c.records = true
	if c.recorder != nil {
		recorder = recorders{c.recorder, recorder}
	}
	c.recorder = recorder
	return c
}

// recorderOf returns the context's recorder, or nil.
func recorderOf(ctx context.Context) Recorder {
	if c := callContextOf(ctx); c != nil {
		return c.recorder
	}
	return nil
}

type recorders struct{ outer, inner Recorder }

// Record implements [Recorder].
func (r recorders) Record(method string, outcomes []Outcome) {
	r.outer.Record(method, outcomes)
	r.inner.Record(method, outcomes)
}
