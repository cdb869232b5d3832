package redislimit

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

const (
	// scoutTime is for how much longer than its budget a scout flies. By its defaults go-redis dials five times, with pauses
	// of 100 ms, before it tells why it cannot connect.
	scoutTime = time.Second
	// leeway is by how much less than its budget a flight may have had in which its call used it up: for what the call did
	// before.
	leeway = time.Millisecond
	// lateTimer is how late the timer of a context may be on a machine that is busy with others.
	lateTimer = 50 * time.Millisecond
)

// flight is what is asked of a server, on its way in a goroutine of its own. By its defaults go-redis reads a reply until
// its own timeouts, whatever the context says. A caller that has waited long enough leaves, and the flight ends by
// itself: nothing that it writes is the caller's. The goroutine costs 12 µs and more where there is no other call, as the runtime
// wakes a thread for it and one for its caller; see sender.bounded for whom it is not needed.
//
// A client that does look at the context closes the connection of a call that it cuts, and callers may have less time than
// their server takes. So a flight goes by the context of its caller only while the server is beyond doubt, and then its
// end by that is no verdict. Otherwise it has its whole budget, and finds out.
type flight struct {
	breaker *breaker
	budget  time.Duration // after which no answer is a failure of the server; 0 or less leaves that to the client
	began   time.Duration // by the sender's clock
	verdict func(error)   // the breaker's, to be called once
	judged  atomic.Bool
	lapsed  func() // is called when it has had its budget, if not nil

	landed   chan struct{} // closed when what follows is set; nil if it flies in the goroutine of its caller, by its context
	answered time.Duration // when the reply came, by the sender's clock
	reply    any
	err      *Error
	panicked any
}

// errNoReply is that of a flight of which nothing has come, as a hook of the client has ended its goroutine.
var errNoReply = fault(KindReply, errors.New("no reply"))

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
			if f.overdue() {
				f.lapse() // now, for the next call to know
			}
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
	if f.landed != nil {
		growStack()
		defer close(f.landed)
	}
	ctx, land := f.depart(ctx)
	defer land()
	f.err = errNoReply
	defer func() {
		f.panicked = recover()
		f.judge(errNeither) // if nothing has come of it
	}()
	switch reply, err := do(ctx); {
	case err == nil:
		f.reply, f.err, f.answered = reply, nil, f.breaker.now()
		f.judge(told(reply))
	case ofTime(err) && over(ctx):
		f.err = ended(ctx)
		if f.overdue() {
			f.lapse()
			return
		}
		f.judge(errNeither)
	default:
		f.err = faultOf(err)
		if !f.judge(f.err) {
			f.breaker.learn(f.began, f.err)
		}
	}
}

// stackOfClient is how much stack go-redis takes to send a command, about, and to connect.
const stackOfClient = 8 << 10

// growStack has the stack of a new goroutine grow at once to what the client takes. Otherwise it does in three steps, of which
// each moves all calls that are under way, and that is a tenth of the time of a lone call.
//
//go:noinline
func growStack() {
	var room [stackOfClient]byte
	use(&room)
}

//go:noinline
func use(*[stackOfClient]byte) {}

// fail has a flight land that did not depart.
func (f *flight) fail(err error) {
	f.err = faultOf(err)
	if f.landed != nil {
		close(f.landed)
	}
}

// depart returns the context that the flight goes by. What it has begun ends when the flight lands.
func (f *flight) depart(ctx context.Context) (_ context.Context, land func()) {
	b := f.breaker
	if f.budget <= 0 || f.landed == nil {
		return ctx, func() {}
	}
	lapse := time.AfterFunc(f.budget, f.lapse)
	if b.beyondDoubt() {
		return ctx, func() { lapse.Stop() }
	}
	least := f.budget
	scout := b.scouting.CompareAndSwap(false, true)
	if scout {
		least += scoutTime
	}
	if deadline, ok := ctx.Deadline(); ok {
		least = max(least, time.Until(deadline)) // of an undo
	}
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), least, noAnswerError(f.budget))
	return ctx, func() {
		lapse.Stop()
		cancel()
		if scout {
			b.scouting.Store(false)
			b.tell() // what it has learned, if there is something to be told
		}
	}
}

// hasLanded reports whether what it has brought can be looked at.
func (f *flight) hasLanded() bool {
	select {
	case <-f.landed:
		return true
	default:
		return false
	}
}

// overdue reports whether the flight has had its budget.
func (f *flight) overdue() bool {
	return f.budget > 0 && f.breaker.now()-f.began >= f.budget-leeway
}

// lapse judges a flight that has had its budget and brought no answer.
func (f *flight) lapse() {
	f.judge(fault(KindTimeout, noAnswerError(f.budget)))
	if f.lapsed != nil {
		f.lapsed()
	}
}

// judge delivers the verdict, and reports whether it is the first.
func (f *flight) judge(err error) bool {
	if f.judged.Swap(true) {
		return false
	}
	f.breaker.judge(f.began, f.verdict, err)
	return true
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

// over reports whether a context has ended. What goes by its deadline may be a moment ahead of it.
func over(ctx context.Context) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= 0 {
		select {
		case <-ctx.Done():
		case <-time.After(lateTimer): // a context of somebody's that has a deadline and does not end with it
		}
	}
	return ctx.Err() != nil
}

// ofTime reports whether an error is what the end of a context makes of a command.
func ofTime(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.Is(err, context.Canceled) || errors.As(err, &timeout) && timeout.Timeout()
}

// concealed is an error of the client that would match that of a context, though the caller's has not ended. It is used by its
// address, so that it can be compared whatever it holds.
type concealed struct{ error }

func conceal(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return &concealed{err}
	}
	return err
}

// Is conceals what the errors of contexts match, and nothing else.
func (c *concealed) Is(target error) bool {
	return target != context.DeadlineExceeded && target != context.Canceled && errors.Is(c.error, target)
}

// As conceals nothing.
func (c *concealed) As(target any) bool { return errors.As(c.error, target) }
