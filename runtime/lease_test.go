package ratelimit_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// C10
func TestLeaseIsRenewedWhileTheCallRuns(t *testing.T) {
	in(t, func(t *testing.T) {
		var told errorsOf
		g := newLimiter(t, memlimit.New(), told.option()).Guard("m", rule(slots(1, 9*time.Second)))
		a := begin(t, g, t.Context())
		time.Sleep(11 * time.Second)
		refuses(t, g, "m: rate limit exceeded: limit limit has all slots taken: the next lease ends in 7s")
		time.Sleep(12 * time.Second)
		refuses(t, g, "m: rate limit exceeded: limit limit has all slots taken: the next lease ends in 7s")
		time.Sleep(2 * time.Second)
		if err := a.Context().Err(); err != nil {
			t.Errorf("the call's context has ended: %v", err)
		}
		a.End()
		time.Sleep(100 * time.Millisecond)
		begin(t, g, t.Context()).End()
		told.check(t)
	})
}

func TestLostLeaseEndsTheContextOfTheCall(t *testing.T) {
	broken := errors.New("connection refused")
	second := ratelimit.Charge{Key: []byte("k"), Name: "limit", Limit: slots(1, 3*time.Second)}
	tests := []struct {
		name  string
		store func(m *memlimit.Store) ratelimit.Store
		after time.Duration // when it is lost
		cause string
		told  []string
	}{
		{
			"taken away", func(m *memlimit.Store) ratelimit.Store {
				return &hooked{Store: m, renew: func(ctx context.Context, charges []ratelimit.Charge, held []bool) error {
					if err := m.Reset(ctx, []ratelimit.Charge{second}); err != nil {
						return err
					}
					return m.Renew(ctx, charges, held)
				}}
			},
			time.Second, "lease lost",
			[]string{"m: limit limit: lease lost"},
		},
		{
			"the store does not answer", func(m *memlimit.Store) ratelimit.Store {
				return &hooked{Store: m, renew: func(context.Context, []ratelimit.Charge, []bool) error { return broken }}
			},
			3 * time.Second, "lease lost: connection refused",
			[]string{"m: limit limit: lease lost: connection refused"},
		},
		{
			"the store hangs", func(m *memlimit.Store) ratelimit.Store {
				return &hooked{Store: m, renew: func(context.Context, []ratelimit.Charge, []bool) error {
					time.Sleep(10 * time.Second)
					return broken
				}}
			},
			3 * time.Second, "lease lost",
			[]string{"m: limit limit: lease lost"},
		},
		{
			"the store renews nothing", func(m *memlimit.Store) ratelimit.Store { return struct{ ratelimit.Store }{m} },
			3 * time.Second, "lease lost",
			[]string{"m: limit limit: lease lost"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				var told errorsOf
				g := newLimiter(t, tt.store(memlimit.New()), told.option()).Guard("m", rule(slots(1, 3*time.Second)))
				call := begin(t, g, t.Context())
				start := time.Now()
				<-call.Context().Done()
				if after := time.Since(start); after != tt.after {
					t.Errorf("lost after %v: want %v", after, tt.after)
				}
				cause := context.Cause(call.Context())
				checkError(t, cause, tt.cause)
				if !errors.Is(cause, ratelimit.ErrLeaseLost) || !errors.Is(call.Context().Err(), context.Canceled) {
					t.Errorf("cause %v, error %v", cause, call.Context().Err())
				}
				other := begin(t, g, t.Context()) // who has the slot now
				call.End()
				synctest.Wait()
				told.check(t, tt.told...)
				refuses(t, g, "m: rate limit exceeded: limit limit has all slots taken: the next lease ends in 3s")
				other.End()
				time.Sleep(time.Minute) // what hangs comes back
			})
		})
	}
}

func TestRenewalIsTriedAgain(t *testing.T) {
	in(t, func(t *testing.T) {
		var told errorsOf
		tries := 0
		store := &hooked{Store: memlimit.New()}
		store.renew = func(ctx context.Context, charges []ratelimit.Charge, held []bool) error {
			if tries++; tries%5 != 0 {
				return errors.New("connection refused")
			}
			return store.Store.Renew(ctx, charges, held)
		}
		g := newLimiter(t, store, told.option()).Guard("m", rule(slots(1, 10*time.Second)))
		call := begin(t, g, t.Context())
		time.Sleep(time.Minute)
		if err := call.Context().Err(); err != nil {
			t.Errorf("the lease is lost: %v", err)
		}
		call.End()
		told.check(t)
	})
}

func TestLeasesAreRenewedTogether(t *testing.T) {
	in(t, func(t *testing.T) {
		const calls = 1000
		var renewals, most atomic.Int64
		store := &hooked{Store: memlimit.New()}
		store.renew = func(ctx context.Context, charges []ratelimit.Charge, held []bool) error {
			renewals.Add(1)
			most.Store(max(most.Load(), int64(len(charges))))
			return store.Store.Renew(ctx, charges, held)
		}
		g := newLimiter(t, store).Guard("m", rule(slots(calls, 3*time.Second)))
		before := runtime.NumGoroutine()
		held := make([]*ratelimit.Call, calls)
		for i := range held {
			held[i] = begin(t, g, context.Background())
		}
		if n := runtime.NumGoroutine() - before; n > 2 {
			t.Errorf("%d goroutines for %d leases: want one, and one on its way to the store", n, calls)
		}
		time.Sleep(3500 * time.Millisecond)
		if n := renewals.Load(); n != 3*calls/100 || most.Load() != 100 {
			t.Errorf("%d renewals of up to %d leases in 3.5 s", n, most.Load())
		}
		refuses(t, g, "m: rate limit exceeded: limit limit has all slots taken: the next lease ends in 2.5s")
		for _, call := range held {
			call.End()
		}
		synctest.Wait()
		if n := runtime.NumGoroutine(); n > before {
			t.Errorf("%d goroutines are left", n-before)
		}
		begin(t, g, t.Context()).End()
	})
}

func TestContextOfACallWithSlots(t *testing.T) {
	type key struct{}
	in(t, func(t *testing.T) {
		g := newLimiter(t, memlimit.New()).Guard("m", rule(slots(10, time.Hour)))
		why := errors.New("why")
		parent, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, "value"))
		call := begin(t, g, parent)
		if call.Context().Value(key{}) != "value" {
			t.Error("the values of the parent are lost")
		}
		cancel(why)
		if err := context.Cause(call.Context()); !errors.Is(err, why) {
			t.Errorf("cause %v: want that of the parent", err)
		}
		call.End()

		call = begin(t, g, t.Context())
		if err := call.Context().Err(); err != nil {
			t.Errorf("the context of a call that runs has ended: %v", err)
		}
		call.End()
		if err := context.Cause(call.Context()); !errors.Is(err, context.Canceled) {
			t.Errorf("the context of a call that is over: %v", err)
		}

		timed, cancelTimed := context.WithTimeoutCause(t.Context(), time.Second, why)
		defer cancelTimed()
		call = begin(t, g, timed)
		defer call.End()
		time.Sleep(time.Second)
		synctest.Wait()
		if err := call.Context().Err(); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(context.Cause(call.Context()), why) {
			t.Errorf("error %v, cause %v: want those of the parent", err, context.Cause(call.Context()))
		}
	})
}

// A store may renew some leases and not be able to tell of others: a Cluster of which a node is down, say.
func TestLeasesThatWereRenewedBesideAnErrorAreKept(t *testing.T) {
	in(t, func(t *testing.T) {
		var told errorsOf
		store := &hooked{Store: memlimit.New()}
		store.renew = func(ctx context.Context, charges []ratelimit.Charge, held []bool) error {
			for i, c := range charges {
				if string(c.Key) == "good" {
					if err := store.Store.Renew(ctx, charges[i:i+1], held[i:i+1]); err != nil {
						return err
					}
				}
			}
			return errors.New("connection refused")
		}
		l := newLimiter(t, store, told.option())
		good, bad := rule(slots(1, 3*time.Second)), rule(slots(1, 3*time.Second))
		good.Key, bad.Key = "good", "bad"
		kept, lost := begin(t, l.Guard("good", good), t.Context()), begin(t, l.Guard("bad", bad), t.Context())
		time.Sleep(10 * time.Second)
		if kept.Context().Err() != nil || !errors.Is(context.Cause(lost.Context()), ratelimit.ErrLeaseLost) {
			t.Errorf("good %v, bad %v", kept.Context().Err(), context.Cause(lost.Context()))
		}
		kept.End()
		lost.End()
		told.check(t, "bad: limit limit: lease lost: connection refused")
	})
}

func TestLeasesOfDifferentTimesAreRenewedApart(t *testing.T) {
	in(t, func(t *testing.T) {
		store := &hooked{Store: memlimit.New()}
		var mu sync.Mutex
		var renewed []int
		store.renew = func(ctx context.Context, charges []ratelimit.Charge, held []bool) error {
			mu.Lock()
			renewed = append(renewed, len(charges))
			mu.Unlock()
			return store.Store.Renew(ctx, charges, held)
		}
		l := newLimiter(t, store)
		short := begin(t, l.Guard("m", ratelimit.Rule{Key: "a", Limit: slots(5, 3*time.Second)}), t.Context())
		long := begin(t, l.Guard("m", ratelimit.Rule{Key: "b", Limit: slots(5, 6*time.Second)}), t.Context())
		many := begin(t, l.Guard("m", ratelimit.Rule{Key: "c", Limit: slots(2000, 6*time.Second), Cost: 1000}), t.Context())
		time.Sleep(2500 * time.Millisecond) // 1: short; 2: short, long and then many
		synctest.Wait()
		if !slices.Equal(renewed, []int{1, 1, 1, 1}) {
			t.Errorf("renewed %v at once", renewed)
		}
		short.End()
		long.End()
		many.End()
	})
}

// One renewal that hangs holds up no other.
func TestRenewalThatHangsHoldsUpNoOther(t *testing.T) {
	in(t, func(t *testing.T) {
		var told errorsOf
		store := &hooked{Store: memlimit.New()}
		store.renew = func(ctx context.Context, charges []ratelimit.Charge, held []bool) error {
			var hung bool
			for i, c := range charges {
				if string(c.Key) == "hung" {
					hung = true
				} else if err := store.Store.Renew(ctx, charges[i:i+1], held[i:i+1]); err != nil {
					return err
				}
			}
			if !hung {
				return nil
			}
			time.Sleep(3 * time.Second) // whatever ctx says
			return errors.New("i/o timeout")
		}
		l := newLimiter(t, store, told.option())
		var calls []*ratelimit.Call
		for _, key := range []string{"hung", "good"} {
			r := rule(slots(1000, 30*time.Second))
			r.Key = key
			g := l.Guard(key, r)
			for range 500 {
				calls = append(calls, begin(t, g, t.Context()))
			}
		}
		time.Sleep(90 * time.Second)
		lost := 0
		for _, call := range calls[500:] {
			if call.Context().Err() != nil {
				lost++
			}
		}
		if lost > 0 || calls[0].Context().Err() == nil {
			t.Errorf("%d leases that could be renewed are lost", lost)
		}
		for _, call := range calls {
			call.End()
		}
		time.Sleep(time.Minute) // what hangs comes back
	})
}
