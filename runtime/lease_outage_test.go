package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// Calls that are let pass without the store must not end for want of it. Those that must have a slot end before another
// can have it.
func TestCallDuringAnOutageThatIsLongerThanItsLease(t *testing.T) {
	const (
		lease  = 3 * time.Second
		outage = 10 * time.Second
		retry  = lease / 10
	)
	local, open, closed := ratelimit.FailLocal, ratelimit.FailOpen, ratelimit.FailClosed
	type failing = func(context.Context, []ratelimit.Charge, []bool) error
	fails := func(err error) func(failing) failing {
		return func(failing) failing { return func(context.Context, []ratelimit.Charge, []bool) error { return err } }
	}
	hangs := func(failing) failing {
		return func(ctx context.Context, _ []ratelimit.Charge, _ []bool) error { <-ctx.Done(); return ctx.Err() }
	}
	loses := func(renew failing) failing { // only the replies
		return func(ctx context.Context, slots []ratelimit.Charge, held []bool) error {
			return errors.Join(renew(ctx, slots, make([]bool, len(held))), errDown)
		}
	}
	misused := fmt.Errorf("%w: no client", ratelimit.ErrMisconfigured)
	tests := []struct {
		name     string
		failures []ratelimit.Failure
		store    func(failing) failing
		lost     time.Duration // when, or up to a retry later; 0 is never
	}{
		{"fails", []ratelimit.Failure{local, open}, fails(errDown), outage},
		{"fails", []ratelimit.Failure{closed}, fails(errDown), lease},
		{"is away", []ratelimit.Failure{local, open}, fails(away{errDown}), outage},
		{"hangs", []ratelimit.Failure{local, open}, hangs, outage},
		{"hangs", []ratelimit.Failure{closed}, hangs, lease},
		{"loses its replies", []ratelimit.Failure{local, open}, loses, 0},
		{"loses its replies", []ratelimit.Failure{closed}, loses, lease},
		{"is misused", []ratelimit.Failure{local, open, closed}, fails(misused), lease},
	}
	for _, tt := range tests {
		for _, failure := range tt.failures {
			t.Run(fmt.Sprintf("the store %s, %s", tt.name, failure), func(t *testing.T) {
				in(t, func(t *testing.T) {
					store := newOutage()
					g := newLimiter(t, store, (&errorsOf{}).option(), ratelimit.OnFailure(failure)).Guard("m", rule(slots(1, lease)))
					began := time.Now()
					var renewals atomic.Int64
					renew := tt.store(store.Store.Renew)
					store.renew = func(ctx context.Context, slots []ratelimit.Charge, held []bool) error {
						if time.Since(began) >= outage {
							return store.Store.Renew(ctx, slots, held)
						}
						renewals.Add(1)
						return renew(ctx, slots, held)
					}
					call := begin(t, g, t.Context())
					select {
					case <-call.Context().Done():
						late := time.Since(began) - tt.lost
						if cause := context.Cause(call.Context()); tt.lost == 0 || late < 0 || late > retry+time.Second || !errors.Is(cause, ratelimit.ErrLeaseLost) {
							t.Errorf("the call ended after %v: %v", time.Since(began), cause)
						}
					case <-time.After(2 * outage):
						if tt.lost != 0 {
							t.Error("the call goes on though the store has said that its slot is lost")
						}
					}
					call.End()
					if n := renewals.Load(); n > int64(outage/retry) {
						t.Errorf("the store was asked %d times", n)
					}
					time.Sleep(time.Second) // what hangs comes back
				})
			})
		}
	}
}
