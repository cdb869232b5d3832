package ratelimit

import (
	"context"
	"errors"
	"time"
)

// Calls wait in two ways. A token bucket or leaky bucket is charged in advance and says when the call's turn is, so that
// the call sleeps until then; the store keeps the order. Of other limits nobody can say it in advance: a call tries again
// when the limit says that it may be admitted. Those that wait for the same bucket in one process stand in a line, of which
// only the first tries.

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
	line, wait := s.line()
	if line != nil {
		p = g.limiter.lines.joinBehind(line)
		defer func() { p.leave() }()
	}
	for poll := firstPoll; ; poll = min(2*poll, lastPoll) {
		if err := p.untilFirst(ctx, wait-time.Since(began)); err != nil {
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
			p = g.limiter.lines.join(line)
		}
		if err := p.untilNews(ctx, pause); err != nil {
			return false, err
		}
	}
}

// line returns the charge whose bucket the call would stand in line for, and for how long. It is the first, so that calls
// of a method stand in one line.
func (s *scratch) line() (*Charge, time.Duration) {
	for i, r := range s.rules {
		if r.Wait > 0 && !r.ahead {
			return &s.charges[i], r.Wait
		}
	}
	return nil, 0
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
	late := func(i int) bool { return s.results[i].Delay > min(s.rules[i].Wait-since, left) }
	var delay time.Duration
	isLate := false
	for i := range s.results {
		if !s.results[i].Allowed {
			return // nothing was charged
		}
		delay = max(delay, s.results[i].Delay)
		isLate = isLate || s.results[i].Delay > 0 && late(i)
	}
	if delay == 0 {
		return
	}
	s.replied = time.Now()
	if !isLate {
		s.delay = delay
		return
	}
	g.giveUp(ctx, s)
	for i := range s.results {
		if result := &s.results[i]; result.Delay > 0 && late(i) {
			result.Allowed, result.RetryAfter, result.Delay = false, result.Delay, 0
		}
	}
}

// awaitTurn waits until it is the call's turn. If ctx ends first, the call gives all back.
func (g *Guard) awaitTurn(ctx context.Context, s *scratch) error {
	if s.delay == 0 {
		return nil
	}
	err := sleep(ctx, s.delay-time.Since(s.replied), nil)
	if err != nil {
		g.giveUp(ctx, s)
		if cause := context.Cause(ctx); errors.Is(cause, ErrLeaseLost) { // of slots that were taken with the turn
			err = cause
		}
	}
	return err
}

// giveUp gives back what a call that does not wait any longer was charged, but for what has come back by itself.
func (g *Guard) giveUp(ctx context.Context, s *scratch) {
	waited := time.Since(s.replied).Truncate(time.Microsecond)
	var back []Charge
	for i, c := range s.charges {
		if s.rules[i].ahead {
			c.Delay = max(0, s.results[i].Delay-waited)
		}
		if c.Cost > 0 && s.isOut(i) {
			back = append(back, c)
		}
	}
	err := g.limiter.giveBack(ctx, s.local, back)
	if err != nil && !errors.Is(err, ErrLeaseLost) { // which is told when it is lost
		g.limiter.report(g.method, err)
	}
	g.limiter.lines.released(back)
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
