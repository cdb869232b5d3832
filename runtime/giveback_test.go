package ratelimit_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// slow is a memory store that takes its time to take something back.
func slow(d time.Duration) *hooked {
	store := &hooked{Store: memlimit.New()}
	store.refund = func(ctx context.Context, charges []ratelimit.Charge) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d):
			return store.Store.Refund(ctx, charges)
		}
	}
	return store
}

// A store that hangs must not hold a call up beyond its deadline, nor be given less time for that.
func TestEndKeepsTheDeadlineOfTheCall(t *testing.T) {
	tests := []struct {
		name    string
		timeout time.Duration // of the call; 0 is none
		lasts   time.Duration // the call
		store   time.Duration // the store takes
		want    time.Duration // End takes
		told    []string
	}{
		{"without a deadline", 0, 0, 500 * time.Millisecond, 500 * time.Millisecond, nil},
		{"without a deadline, and the store hangs", 0, 0, time.Minute, time.Second, []string{"m: context deadline exceeded"}},
		{"the deadline is far", time.Hour, 0, 500 * time.Millisecond, 500 * time.Millisecond, nil},
		{"the deadline is near", 25 * time.Millisecond, 5 * time.Millisecond, 500 * time.Millisecond, 30 * time.Millisecond, nil},
		{"the deadline is near, and the store is well", 25 * time.Millisecond, 5 * time.Millisecond, 2 * time.Millisecond, 2 * time.Millisecond, nil},
		{"the deadline has passed", 25 * time.Millisecond, time.Second, 500 * time.Millisecond, 10 * time.Millisecond, nil},
		{"the deadline has passed, and the store is well", 25 * time.Millisecond, time.Second, 2 * time.Millisecond, 2 * time.Millisecond, nil},
		{"the deadline has passed, and the store hangs", 25 * time.Millisecond, time.Second, time.Minute, 10 * time.Millisecond, []string{"m: context deadline exceeded"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				var told errorsOf
				store := slow(tt.store)
				g := newLimiter(t, store, told.option()).Guard("m", rule(slots(1, time.Hour)))
				ctx, cancel := t.Context(), context.CancelFunc(func() {})
				if tt.timeout > 0 {
					ctx, cancel = context.WithTimeout(ctx, tt.timeout)
				}
				defer cancel()
				call := begin(t, g, ctx)
				time.Sleep(tt.lasts)
				began := time.Now()
				call.End()
				if d := time.Since(began); d != tt.want {
					t.Errorf("End took %v: want %v", d, tt.want)
				}
				time.Sleep(time.Second)
				told.check(t, tt.told...)
				if n := store.Len(); n != len(tt.told) {
					t.Errorf("%d slots are left", n)
				}
			})
		})
	}
}

// A server that shuts down cancels all its calls at once: their slots come back all the same.
func TestSlotsOfManyCallsThatAreCanceledAtOnce(t *testing.T) {
	in(t, func(t *testing.T) {
		const calls = 3000
		var told errorsOf
		store := slow(50 * time.Millisecond)
		g := newLimiter(t, store, told.option()).Guard("m", rule(slots(calls, time.Hour)))
		ctx, cancel := context.WithCancel(t.Context())
		var held []*ratelimit.Call
		for range calls {
			held = append(held, begin(t, g, ctx))
		}
		cancel()
		for _, call := range held {
			go call.End()
		}
		time.Sleep(time.Second)
		if n := store.Len(); n != 0 {
			t.Errorf("slots are left in %d buckets", n)
		}
		told.check(t)
	})
}

// So does a call that gives up waiting for its turn.
func TestCallThatGivesUpDoesNotWaitForTheStore(t *testing.T) {
	in(t, func(t *testing.T) {
		g := newLimiter(t, slow(500*time.Millisecond)).Guard("m", ratelimit.Rule{
			Key: "k", Limit: ratelimit.Limit{Count: 1, Period: 10 * time.Second}, Wait: time.Minute,
		})
		checkError(t, g.Allow(t.Context()), "")
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		began := time.Now()
		checkError(t, g.Allow(ctx), "m: rate limit undecided: context canceled")
		if d := time.Since(began); d != 30*time.Millisecond {
			t.Errorf("the call took %v: want 10 ms from when it was canceled", d)
		}
		time.Sleep(time.Second)
	})
}

// What has just failed to answer is not asked again about the limits of the same call that only look on. They are decided
// like those that hold.
func TestStoreThatFailsACallIsAskedOnce(t *testing.T) {
	for _, failure := range []ratelimit.Failure{ratelimit.FailLocal, ratelimit.FailOpen} {
		t.Run(string(failure), func(t *testing.T) {
			in(t, func(t *testing.T) {
				asked := 0
				store := failing(func() error { asked++; return errDown })
				g := newLimiter(t, store, (&errorsOf{}).option(), ratelimit.OnFailure(failure)).Guard("m",
					ratelimit.Rule{Key: "k", Name: "holds", Limit: fivePerSecond},
					ratelimit.Rule{Key: "k", Name: "looks", Limit: fivePerSecond, Mode: ratelimit.ModeShadow},
				)
				lines := recordedBy(t, g, 1)
				if asked != 1 {
					t.Errorf("the store was asked %d times", asked)
				}
				if local := failure == ratelimit.FailLocal; local != (len(lines) == 2) {
					t.Errorf("recorded %q", lines)
				}
				synctest.Wait()
			})
		})
	}
}
