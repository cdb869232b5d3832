package redislimit

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// flight is what is asked of a server, on its way in a goroutine of its own. By its defaults go-redis reads a reply until
// its own timeouts, whatever the context says. A caller that has waited long enough leaves, and the flight ends by
// itself: nothing that it writes is the caller's. The goroutine costs a decision 5 µs of CPU where there are many callers,
// and 14 µs where there is one, for whom the runtime wakes another thread.
type flight struct {
	breaker *breaker
	budget  time.Duration // after which no answer is a failure of the server; 0 or less is when the flight ends
	began   time.Duration // by the breaker's clock
	verdict func(error)   // the breaker's, to be called once
	judged  atomic.Bool
	cut     atomic.Bool // whether the context ended the flight

	landed   chan struct{} // closed when what follows is set
	reply    any
	err      *Error
	panicked any
}

// fly does something that the server must answer, and returns its answer, or earlier if the context ends.
func fly(ctx context.Context, b *breaker, budget time.Duration, do func(context.Context) (any, error)) (any, error) {
	if ctx.Err() != nil {
		return nil, ended(ctx)
	}
	verdict, err := b.allow()
	if err != nil {
		return nil, err
	}
	f := &flight{breaker: b, budget: budget, began: b.now(), verdict: verdict, landed: make(chan struct{})}
	go f.run(ctx, do)
	select {
	case <-f.landed:
	case <-ctx.Done():
		select {
		case <-f.landed: // at the last moment
		default:
			f.leave()
			return nil, ended(ctx)
		}
	}
	switch {
	case f.panicked != nil: // a hook of the client, whose owner recovers it where the call is
		panic(f.panicked)
	case f.err != nil:
		return nil, f.err
	}
	return f.reply, nil
}

func (f *flight) run(ctx context.Context, do func(context.Context) (any, error)) {
	defer close(f.landed)
	defer func() {
		if f.panicked = recover(); f.panicked != nil {
			f.judge(errNeither)
		}
	}()
	reply, err := do(ctx)
	switch {
	case err == nil:
		f.reply = reply
		f.judge(nil)
	case ctx.Err() != nil && ofTime(err):
		f.err = ended(ctx)
		f.cut.Store(true)
		f.leave()
	default:
		f.err = fault(kindOf(err), conceal(err))
		f.judge(f.err)
	}
}

// leave is what a flight does whose caller has left, or that its context has ended. It is judged when its budget ends:
// callers with short deadlines would otherwise keep a dead server on the path.
func (f *flight) leave() {
	left := f.budget - (f.breaker.now() - f.began)
	switch {
	case f.budget > 0 && left <= f.budget/10: // it had its budget, but for what the call did before
		f.judge(f.silence())
	case f.budget > 0:
		time.AfterFunc(left, f.lapse)
	case f.cut.Load():
		f.lapse()
	}
}

// lapse judges a flight that brought no answer until its budget's end. One that its context ended before that tells
// something only if nobody else was answered either.
func (f *flight) lapse() {
	if f.cut.Load() && f.breaker.answeredSince(f.began) {
		f.judge(errNeither)
		return
	}
	f.judge(f.silence())
}

// silence is the failure of a server that has not answered in time.
func (f *flight) silence() *Error {
	if f.budget > 0 {
		return fault(KindTimeout, noAnswerError(f.budget))
	}
	return fault(KindTimeout, noAnswerError((f.breaker.now() - f.began).Round(time.Millisecond)))
}

func (f *flight) judge(err error) {
	if !f.judged.Swap(true) {
		f.breaker.judge(f.began, f.verdict, err)
	}
}

// ended returns the error of a call whose context has ended, or whose budget is used up.
func ended(ctx context.Context) *Error {
	var used noAnswerError
	switch err := ctx.Err(); {
	case errors.As(context.Cause(ctx), &used):
		return fault(KindTimeout, used)
	case errors.Is(err, context.DeadlineExceeded):
		return fault(KindTimeout, err)
	default:
		return fault(KindCanceled, err)
	}
}

// ofTime reports whether an error is what the end of a context makes of a command.
func ofTime(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.Is(err, context.Canceled) || errors.As(err, &timeout) && timeout.Timeout()
}

// concealed is an error of the client that would match that of a context, though the caller's has not ended.
type concealed struct{ error }

func conceal(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return concealed{err}
	}
	return err
}

// Is conceals what the errors of contexts match, and nothing else.
func (c concealed) Is(target error) bool {
	return target != context.DeadlineExceeded && target != context.Canceled && errors.Is(c.error, target)
}

// As conceals nothing.
func (c concealed) As(target any) bool { return errors.As(c.error, target) }
