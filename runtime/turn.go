package ratelimit

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

// Calls wait in two ways. A token bucket or leaky bucket is charged in advance and says when the call's turn is, so that
// the call sleeps until then; the store keeps the order. Of other limits nobody can say it in advance: a call tries again
// when the limit says that it may be admitted. Those that wait for the same bucket by the same limit in one process stand in a line, of
// which only the first tries.

const (
	// firstPoll and lastPoll are the pauses between tries for a slot, which may be released at any time by anyone. A slot
	// that is released by this process is tried for at once.
	firstPoll = 5 * time.Millisecond
	lastPoll  = 250 * time.Millisecond
)

// takeInTurn is [Limiter.take] for a call that may wait.
func (g *Guard) takeInTurn(ctx context.Context, s *scratch) (decided bool, err error) {
	began := time.Now()
	s.timed = true
	var p *place // in a line, if the call is in one
	defer func() { p.leave() }()
	var lineOf Charge // as it is before a try, which may leave the call with other charges and a share of the limit
	if c := s.line(); c != nil {
		lineOf = *c
		if p = g.limiter.lines.joinBehind(&lineOf); p != nil && g.isHopeless(ctx, s) {
			return true, nil
		}
	}
	for poll := firstPoll; ; poll = min(2*poll, lastPoll) {
		if err := p.untilFirst(ctx, s.patience(time.Since(began))); err != nil {
			return false, err
		}
		if decided, err = g.limiter.take(ctx, s); err != nil || !decided {
			return false, err
		}
		pause, again := s.pause(ctx, time.Since(began), poll)
		if !again {
			g.schedule(ctx, s, time.Since(began))
			return true, nil
		}
		if p == nil {
			p = g.limiter.lines.join(&lineOf)
		}
		if err := p.untilNews(ctx, pause); err != nil {
			return false, err
		}
	}
}

// line returns the charge whose bucket the call would stand in line for: that of slots, which are released at any time, or
// else the first, so that calls of a method stand in one line.
func (s *scratch) line() *Charge {
	first := -1
	for i := range s.rules {
		if !s.queues(i) {
			continue
		}
		if s.rules[i].leased {
			return &s.charges[i]
		}
		if first < 0 {
			first = i
		}
	}
	if first < 0 {
		return nil
	}
	return &s.charges[first]
}

// queues reports whether the call would stand in line for the i-th charge.
func (s *scratch) queues(i int) bool {
	r := s.rules[i]
	return r.Wait > 0 && !r.ahead && s.charges[i].Cost > 0
}

// patience returns how long a call that has waited since it began may stand in line before it has to try, since one of its
// limits would refuse it then.
func (s *scratch) patience(since time.Duration) time.Duration {
	left := Never
	for i, r := range s.rules {
		if r.Wait > since && s.queues(i) {
			left = min(left, r.Wait-since)
		}
	}
	return left
}

// isHopeless reports whether a call that has just joined a line need not stand in it, since it will be refused whoever is
// before it. The results then say why.
func (g *Guard) isHopeless(ctx context.Context, s *scratch) bool {
	began := time.Now()
	err := g.limiter.store.Peek(ctx, s.charges, s.results)
	s.took += time.Since(began)
	if err != nil {
		return false // the try will tell
	}
	_, again := s.pause(ctx, 0, firstPoll)
	return !again && slices.ContainsFunc(s.results, func(r Result) bool { return !r.Allowed })
}

// pause returns how long a call that was refused, and has waited since it began, should wait to be tried again, and whether
// that may help.
func (s *scratch) pause(ctx context.Context, since, poll time.Duration) (pause time.Duration, again bool) {
	for i := range s.results {
		result, r := &s.results[i], s.rules[i]
		if result.Allowed {
			continue
		}
		left := r.Wait - since
		switch {
		case r.ahead || result.RetryAfter == Never:
			return 0, false
		case r.leased:
			if left <= 0 {
				return 0, false
			}
			pause = max(pause, min(result.RetryAfter, poll, left))
		case result.RetryAfter > min(left, timeLeft(ctx)):
			return 0, false
		default:
			pause = max(pause, result.RetryAfter)
		}
	}
	return pause, pause > 0
}

// timeLeft returns the time until ctx ends by itself.
func timeLeft(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return time.Until(deadline)
	}
	return Never
}

// schedule notes when it is the turn of a call that was charged in advance. If that is too late, the call gives all back
// and is refused.
func (g *Guard) schedule(ctx context.Context, s *scratch, since time.Duration) {
	left := timeLeft(ctx)
	var late []int
	for i := range s.results {
		r := &s.results[i]
		if !r.Allowed {
			return // nothing was charged
		}
		s.delay = max(s.delay, r.Delay)
		if r.Delay > 0 && r.Delay > min(s.rules[i].Wait-since, left) {
			late = append(late, i)
		}
	}
	s.replied = time.Now()
	if late == nil {
		return
	}
	s.delay = 0
	delays := make([]time.Duration, len(s.results))
	for i := range s.results {
		delays[i] = s.results[i].Delay
	}
	g.giveUp(ctx, s)
	_ = g.limiter.decider(s.local).Peek(ctx, s.charges, s.results) // or they tell how it was before
	for _, i := range late {
		if r := &s.results[i]; r.Allowed { // or another has taken the place
			r.Allowed, r.RetryAfter, r.Delay = false, cmp.Or(r.Delay, delays[i]), 0
		}
	}
}

// awaitTurn waits until it is the call's turn. If ctx ends first, the call is to give up.
func (s *scratch) awaitTurn(ctx context.Context) error {
	if s.delay == 0 {
		return nil
	}
	err := sleep(ctx, s.delay-time.Since(s.replied), nil)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, ErrLeaseLost) { // of slots that were taken with the turn
		return cause
	}
	return err
}

// giveUp gives back what a call that does not wait any longer was charged.
func (g *Guard) giveUp(ctx context.Context, s *scratch) {
	waited := time.Since(s.replied).Truncate(time.Microsecond)
	var back []Charge
	for i := range s.charges {
		c, ok := s.refund(i)
		if s.rules[i].ahead {
			c.Delay = max(0, s.results[i].Delay-waited)
		}
		if ok {
			back = append(back, c)
		}
	}
	g.giveBack(ctx, s.local, back, false)
}

// sleep waits for that long, or for news. It returns the error of ctx if that ends first.
func sleep(ctx context.Context, d time.Duration, news <-chan struct{}) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-news:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}
