package ratelimit

import (
	"context"
	"errors"
	"runtime"
)

// leaseContext is the context of a call that holds slots. It ends as its parent does, or when a lease is lost.
//
// It does not end with the call, since what a call returns may live on it, such as the rows of a query. Nothing then tells
// when to stop following the parent, but that nobody has the context any more.
type leaseContext struct {
	context.Context
	end context.CancelCauseFunc
}

func newLeaseContext(parent context.Context) *leaseContext {
	ctx, stopTimer := context.WithoutCancel(parent), context.CancelFunc(func() {})
	if deadline, ok := parent.Deadline(); ok {
		ctx, stopTimer = context.WithDeadline(ctx, deadline)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	end := func(cause error) {
		cancel(cause)
		stopTimer()
	}
	c := &leaseContext{Context: ctx, end: end}
	if parent.Done() != nil {
		stop := context.AfterFunc(parent, func() {
			if !errors.Is(parent.Err(), context.DeadlineExceeded) { // the deadline is ctx's own
				end(context.Cause(parent))
			}
		})
		runtime.AddCleanup(c, func(stop func() bool) { stop() }, stop)
	}
	return c
}
