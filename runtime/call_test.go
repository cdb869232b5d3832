package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// slots is a limit of n calls at once.
func slots(n int64, lease time.Duration) ratelimit.Limit {
	return ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: n, Period: lease}
}

func rule(limit ratelimit.Limit) ratelimit.Rule {
	return ratelimit.Rule{Key: "k", Name: "limit", Limit: limit}
}

// hooked is a memory store in front of which a test puts what it likes. A nil function is the store's own.
type hooked struct {
	*memlimit.Store
	take   func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error
	refund func(ctx context.Context, charges []ratelimit.Charge) error
	renew  func(ctx context.Context, charges []ratelimit.Charge, held []bool) error
}

func (h *hooked) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if h.take != nil {
		return h.take(ctx, charges, results)
	}
	return h.Store.Take(ctx, charges, results)
}

func (h *hooked) Refund(ctx context.Context, charges []ratelimit.Charge) error {
	if h.refund != nil {
		return h.refund(ctx, charges)
	}
	return h.Store.Refund(ctx, charges)
}

func (h *hooked) Renew(ctx context.Context, charges []ratelimit.Charge, held []bool) error {
	if h.renew != nil {
		return h.renew(ctx, charges, held)
	}
	return h.Store.Renew(ctx, charges, held)
}

// errorsOf collects what a Limiter tells nobody else.
type errorsOf struct {
	mu   sync.Mutex
	told []string
}

func (e *errorsOf) option() ratelimit.Option {
	return ratelimit.OnError(func(method string, err error) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.told = append(e.told, method+": "+err.Error())
	})
}

func (e *errorsOf) check(t *testing.T, want ...string) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.Equal(e.told, want) {
		t.Errorf("told %q\nwant %q", e.told, want)
	}
}

// begin begins a call that must be allowed.
func begin(t *testing.T, g *ratelimit.Guard, ctx context.Context) *ratelimit.Call {
	t.Helper()
	call, err := g.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return call
}

// refuses checks that a call is refused now.
func refuses(t *testing.T, g *ratelimit.Guard, want string) {
	t.Helper()
	call, err := g.Begin(t.Context())
	if call != nil {
		t.Error("a refused call is one")
		call.End()
	}
	checkError(t, err, want)
}

// in runs a test in a bubble whose clock is the test's.
func in(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

func TestSlotIsHeldUntilTheCallEnds(t *testing.T) {
	in(t, func(t *testing.T) {
		g := newLimiter(t, memlimit.New()).Guard("m", rule(slots(2, time.Minute)))
		first, second := begin(t, g, t.Context()), begin(t, g, t.Context())
		time.Sleep(time.Second)
		refuses(t, g, "m: rate limit exceeded: limit limit has all slots taken: the next lease ends in 59s")
		first.End()
		begin(t, g, t.Context()).End()
		second.End()
	})
}

// C12: the panic goes on, and so does the next call. C15: nor does a call that fails keep its slot.
func TestSlotIsReleasedHoweverTheCallEnds(t *testing.T) {
	calls := map[string]func(){
		"return": func() {},
		"panic":  func() { panic("the call's own") },
		"Goexit": runtime.Goexit,
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				g := newLimiter(t, memlimit.New()).Guard("m", rule(slots(1, time.Hour)))
				ended := make(chan any)
				for range 3 {
					go func() {
						defer func() { ended <- recover() }()
						defer begin(t, g, t.Context()).End()
						call()
					}()
					if value := <-ended; name == "panic" && value != "the call's own" {
						t.Errorf("recovered %v", value)
					}
				}
			})
		})
	}
}

// C13
func TestCallEndsOnce(t *testing.T) {
	in(t, func(t *testing.T) {
		var told errorsOf
		g := newLimiter(t, memlimit.New(), told.option()).Guard("m", rule(slots(1, time.Hour)))
		a := begin(t, g, t.Context())
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(a.End)
		}
		wg.Wait()
		b := begin(t, g, t.Context())
		a.End()
		refuses(t, g, "m: rate limit exceeded: limit limit has all slots taken: the next lease ends in 1h0m0s")
		b.End()
		told.check(t)
	})
}

// C14
func TestSlotIsReleasedAfterTheContextHasEnded(t *testing.T) {
	in(t, func(t *testing.T) {
		var told errorsOf
		g := newLimiter(t, memlimit.New(), told.option()).Guard("m", rule(slots(1, time.Hour)))
		ctx, cancel := context.WithCancel(t.Context())
		call := begin(t, g, ctx)
		cancel()
		call.End()
		begin(t, g, t.Context()).End()
		told.check(t)
	})
}

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

// A short lease is not held up by the renewal of a long one that hangs.
func TestLeasesOfDifferentTimesAreRenewedApart(t *testing.T) {
	in(t, func(t *testing.T) {
		store := &hooked{Store: memlimit.New()}
		var renewed []int
		store.renew = func(ctx context.Context, charges []ratelimit.Charge, held []bool) error {
			renewed = append(renewed, len(charges))
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

func TestRefund(t *testing.T) {
	rules := []ratelimit.Rule{
		{Key: "a", Name: "minute", Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 10, Period: time.Minute}},
		{Key: "a", Name: "hour", Limit: ratelimit.Limit{Count: 100, Period: time.Hour}, Cost: 5},
	}
	tests := []struct {
		name   string
		during func(call *ratelimit.Call)
		want   string // units that are left of each limit
	}{
		{"of neither limit", func(*ratelimit.Call) {}, "9 95"},
		{"of one limit", func(call *ratelimit.Call) { call.Refund("minute") }, "10 95"},
		{"twice", func(call *ratelimit.Call) { call.Refund("minute"); call.Refund("minute") }, "10 95"},
		{"of both limits", func(call *ratelimit.Call) { call.Refund("hour"); call.Refund("minute") }, "10 100"},
		{"of no such limit", func(call *ratelimit.Call) { call.Refund("day") }, "9 95"},
		{"after the end", func(call *ratelimit.Call) { call.End(); call.Refund("minute") }, "9 95"},
		{
			"what has come back is not given back twice", func(call *ratelimit.Call) {
				time.Sleep(time.Minute)
				call.Refund("minute")
				call.Refund("hour")
			}, "9 100", // one of the next window's
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				store := memlimit.New()
				g := newLimiter(t, store).Guard("m", rules...)
				call := begin(t, g, t.Context())
				tt.during(call)
				charges := []ratelimit.Charge{
					{Key: []byte("a"), Name: "minute", Limit: rules[0].Limit},
					{Key: []byte("a"), Name: "hour", Limit: rules[1].Limit},
				}
				if strings.Contains(tt.name, "twice") && tt.want == "9 100" {
					charges[0].Cost = 1 // of another call, in the next window
				}
				results := make([]ratelimit.Result, 2)
				if err := store.Take(t.Context(), charges, results); err != nil {
					t.Fatal(err)
				}
				charges[0].Cost = 0
				call.End()
				if err := store.Peek(t.Context(), charges, results); err != nil {
					t.Fatal(err)
				}
				if left := fmt.Sprint(results[0].Remaining, results[1].Remaining); left != tt.want {
					t.Errorf("%s are left: want %s", left, tt.want)
				}
			})
		})
	}
}

// What has come back of a call's units by itself is not given back a second time.
func TestRefundOfUnitsThatComeBackOneByOne(t *testing.T) {
	for _, limit := range []ratelimit.Limit{
		{Count: 1, Period: time.Second, Burst: 10},
		{Algorithm: ratelimit.LeakyBucket, Count: 1, Period: time.Second, Burst: 10},
		{Count: 1, Period: time.Second, Burst: 10, Refill: ratelimit.Interval},
	} {
		for elapsed, left := range map[time.Duration]int64{
			0:                       10,
			4 * time.Second:         4 + 6, // four are back, six are given back
			9999 * time.Millisecond: 9 + 1,
			10 * time.Second:        10,
			15 * time.Second:        10,
		} {
			in(t, func(t *testing.T) {
				store := memlimit.New()
				g := newLimiter(t, store).Guard("m", ratelimit.Rule{Key: "k", Name: "limit", Limit: limit, Cost: 10})
				call := begin(t, g, t.Context())
				time.Sleep(elapsed)
				others := []ratelimit.Charge{{Key: []byte("k"), Name: "limit", Limit: limit, Cost: int64(min(elapsed/time.Second, 10))}}
				results := make([]ratelimit.Result, 1)
				if err := store.Take(t.Context(), others, results); err != nil || !results[0].Allowed {
					t.Fatal(results[0], err)
				}
				call.Refund("limit")
				call.End()
				others[0].Cost = 0
				if err := store.Peek(t.Context(), others, results); err != nil {
					t.Fatal(err)
				}
				if got := results[0].Remaining + int64(min(elapsed/time.Second, 10)); got != left {
					t.Errorf("%+v after %v: %d are left or taken anew: want %d", limit, elapsed, got, left)
				}
			})
		}
	}
}

// C09
func TestReleaseThatFailsIsTold(t *testing.T) {
	in(t, func(t *testing.T) {
		var told errorsOf
		store := &hooked{Store: memlimit.New()}
		store.refund = func(context.Context, []ratelimit.Charge) error { return errors.New("connection refused") }
		g := newLimiter(t, store, told.option()).Guard("users.Get", rule(slots(1, 5*time.Second)))
		begin(t, g, t.Context()).End()
		told.check(t, "users.Get: connection refused")
		time.Sleep(5*time.Second - time.Microsecond)
		refuses(t, g, "users.Get: rate limit exceeded: limit limit has all slots taken: the next lease ends in 1µs")
		time.Sleep(time.Microsecond)
		store.refund = nil
		begin(t, g, t.Context()).End()
	})
}

func TestReleaseWaitsForASecond(t *testing.T) {
	in(t, func(t *testing.T) {
		var told errorsOf
		store := &hooked{Store: memlimit.New()}
		store.refund = func(ctx context.Context, _ []ratelimit.Charge) error {
			<-ctx.Done()
			return ctx.Err()
		}
		g := newLimiter(t, store, told.option()).Guard("m", rule(slots(1, time.Minute)))
		call := begin(t, g, t.Context())
		start := time.Now()
		call.End()
		if d := time.Since(start); d != time.Second {
			t.Errorf("the call ended after %v", d)
		}
		told.check(t, "m: context deadline exceeded")
	})
}

func TestSlotsAndUnitsAreTakenTogether(t *testing.T) {
	in(t, func(t *testing.T) {
		store := memlimit.New()
		g := newLimiter(t, store).Guard("m",
			ratelimit.Rule{Key: "k", Name: "slots", Limit: slots(1, time.Minute)},
			ratelimit.Rule{Key: "k", Name: "hour", Limit: ratelimit.Limit{Count: 2, Period: time.Hour}},
		)
		call := begin(t, g, t.Context())
		refuses(t, g, "m: rate limit exceeded: limit slots has all slots taken: the next lease ends in 1m0s")
		call.End()
		begin(t, g, t.Context()).End()
		refuses(t, g, "m: rate limit exceeded: limit hour admits the call in 30m0s")
		if n := store.Len(); n != 1 {
			t.Errorf("%d buckets are left: want the hour's, and no slot", n)
		}
	})
}

func TestConcurrencyNeedsACallThatEnds(t *testing.T) {
	l := newLimiter(t, memlimit.New())
	checkError(t, l.Guard("m", rule(slots(1, time.Minute))).Allow(t.Context()),
		"m: rate limit undecided: ratelimit: a limit of the method is Concurrency: want Guard.Begin, whose Call ends")
	_, err := l.Allow(t.Context(), "k", slots(1, time.Minute))
	checkError(t, err, "rate limit undecided: ratelimit: Concurrency needs a call that ends: want Guard.Begin")
}

func TestCallOfAStoreThatDoesNotAnswer(t *testing.T) {
	store := &hooked{Store: memlimit.New()}
	store.take = func(context.Context, []ratelimit.Charge, []ratelimit.Result) error {
		return errors.New("connection refused")
	}
	closed := newLimiter(t, store).Guard("m", rule(slots(1, time.Minute)))
	refuses(t, closed, "m: rate limit undecided: connection refused")
	open := newLimiter(t, store, ratelimit.OnFailure(ratelimit.FailOpen)).Guard("m", rule(slots(1, time.Minute)))
	for range 2 {
		call := begin(t, open, t.Context())
		if call.Context() != t.Context() {
			t.Error("a call that holds nothing has a context of its own")
		}
		defer call.End()
	}
}

func TestHoldersCannotBeGuessed(t *testing.T) {
	var s script
	g := newLimiter(t, &s).Guard("m", rule(slots(1, time.Minute)))
	for range 100 {
		begin(t, g, t.Context())
	}
	seen := map[string]bool{}
	for _, c := range s.asked {
		if len(c.Holder) < 22 || seen[c.Holder] {
			t.Errorf("holder %q", c.Holder)
		}
		seen[c.Holder] = true
	}
}
