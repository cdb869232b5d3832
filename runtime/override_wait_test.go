package ratelimit_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// admittedAtOnce begins a call that must not wait, and returns it.
func admittedAtOnce(t *testing.T, ctx context.Context, g *ratelimit.Guard, what string) *ratelimit.Call {
	t.Helper()
	began := time.Now()
	call, err := g.Begin(ctx)
	if waited := time.Since(began); err != nil || waited != 0 {
		t.Errorf("%s: after %v: %v, want to be admitted at once", what, waited, err)
	}
	return call
}

func TestRaisedLimitIsNotBehindACallThatWaitsByTheOldOne(t *testing.T) {
	for name, limit := range map[string]ratelimit.Limit{
		"slots":          {Algorithm: ratelimit.Concurrency, Count: 1, Period: time.Minute},
		"fixed window":   {Algorithm: ratelimit.FixedWindow, Count: 1, Period: 20 * time.Second},
		"sliding log":    {Algorithm: ratelimit.SlidingLog, Count: 1, Period: 20 * time.Second},
		"sliding window": {Algorithm: ratelimit.SlidingWindow, Count: 1, Period: 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limiter := newLimiter(t, memlimit.New())
				guard, ctx := limiter.Guard("m.Get", ratelimit.Rule{Key: "get", Name: "1s", Limit: limit, Wait: 50 * time.Second}), t.Context()
				first := admittedAtOnce(t, ctx, guard, "the first call")
				waited := make(chan error)
				go func() {
					call, err := guard.Begin(ctx)
					if err == nil {
						call.End()
					}
					waited <- err
				}()
				synctest.Wait()
				override(t, limiter, overrides(getID, ratelimit.Override{Count: 10}))
				admittedAtOnce(t, ctx, guard, "the next call").End()
				first.End()
				if err := <-waited; err != nil {
					t.Errorf("the call that waited: %v", err)
				}
			})
		})
	}
}

func TestCallerWithMoreSlotsIsNotBehindThoseWhoWaitForFewer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := newLimiter(t, memlimit.New())
		guard := limiter.Guard("m.Get", ratelimit.Rule{
			Key: "get", Name: "1s", Limit: ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 1, Period: time.Minute}, Wait: 30 * time.Second,
		})
		override(t, limiter, overrides(getID, ratelimit.Override{Callers: []ratelimit.CallerOverride{{By: map[string]string{"user": "ann"}, Count: 2}}}))
		ann := ratelimit.WithCaller(t.Context(), "user", "ann")
		admitted := make(chan string, 2)
		await := func(ctx context.Context, who string) *ratelimit.Call {
			call, err := guard.Begin(ctx)
			if err != nil {
				t.Errorf("%s: %v", who, err)
			}
			admitted <- who
			return call
		}
		first := admittedAtOnce(t, t.Context(), guard, "the first call")
		go func() { await(t.Context(), "other").End() }()
		synctest.Wait()
		second := admittedAtOnce(t, ann, guard, "ann")
		go func() { await(ann, "ann").End() }()
		synctest.Wait()
		// Both lines wait for the bucket, and both hear of a slot that is released.
		began := time.Now()
		second.End()
		if who := <-admitted; who != "ann" || time.Since(began) != 0 {
			t.Errorf("%s is admitted %v after a slot was released, want ann at once", who, time.Since(began))
		}
		first.End()
		if who := <-admitted; who != "other" || time.Since(began) != 0 {
			t.Errorf("%s is admitted %v after all slots were released, want the other at once", who, time.Since(began))
		}
	})
}
