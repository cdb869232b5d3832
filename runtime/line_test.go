package ratelimit_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// Of limits that cannot be charged in advance, those that wait are admitted as soon as may be, in order.
func TestCallsWaitInLine(t *testing.T) {
	tests := []struct {
		limit ratelimit.Limit
		want  []time.Duration
	}{
		{ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 2, Period: time.Second}, []time.Duration{0, 0, 1, 1, 2, 2}},
		{ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: 2, Period: time.Second}, []time.Duration{0, 0, 1, 1, 2, 2}},
		{ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 2, Period: time.Minute}, []time.Duration{0, 0, 3, 3, 6, 6}},
	}
	for _, tt := range tests {
		t.Run(tt.limit.Algorithm.String(), func(t *testing.T) {
			in(t, func(t *testing.T) {
				g := newLimiter(t, memlimit.New()).Guard("m", waiting(tt.limit, 10*time.Second))
				at := make([]time.Duration, len(tt.want)) // by caller; of those that go at the same time it is chance who is first
				var wg sync.WaitGroup
				start := time.Now()
				for i := range tt.want {
					wg.Go(func() {
						call, err := g.Begin(t.Context())
						if err != nil {
							t.Error(err)
							return
						}
						defer call.End()
						at[i] = time.Since(start)
						if tt.limit.Algorithm == ratelimit.Concurrency {
							time.Sleep(3 * time.Second)
						}
					})
					synctest.Wait()
				}
				wg.Wait()
				for i := range at {
					if want := tt.want[i] * time.Second; at[i] != want {
						t.Errorf("calls went at %v: want %v seconds", at, tt.want)
						break
					}
				}
			})
		})
	}
}

func TestLaterCallsDoNotPassThoseInLine(t *testing.T) {
	in(t, func(t *testing.T) {
		g := newLimiter(t, memlimit.New()).Guard("m", waiting(slots(1, time.Minute), 10*time.Second))
		held := begin(t, g, t.Context())
		second := make(chan *ratelimit.Call)
		go func() { second <- begin(t, g, t.Context()) }()
		synctest.Wait()
		third := make(chan *ratelimit.Call)
		time.AfterFunc(time.Second, func() {
			held.End()
			third <- begin(t, g, t.Context()) // as early as can be
		})
		select {
		case call := <-second:
			go call.End()
		case <-third:
			t.Error("the third call went before the second")
			<-second
		}
		(<-third).End()
	})
}

// A process that enforces its share of a limit, while the store is away, has the calls that came first go first, too.
func TestLaterCallsDoNotPassThoseInLineWhileTheStoreIsAway(t *testing.T) {
	for _, instances := range []int{1, 2} {
		in(t, func(t *testing.T) {
			store := newOutage()
			store.down(true)
			r := waiting(ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: int64(2 * instances), Period: 10 * time.Second}, time.Minute)
			r.CostArg = true
			g := newLimiter(t, store, ratelimit.Instances(instances), new(errorsOf).option()).Guard("m", r)
			allow := func(cost int64) error { return g.Allow(t.Context(), ratelimit.Cost(r.Name, cost)) }
			if err := allow(1); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			first := make(chan time.Duration, 1)
			go func() {
				if err := allow(2); err != nil {
					t.Error(err)
				}
				first <- time.Since(began)
			}()
			time.Sleep(time.Second)
			if err := allow(1); err != nil { // for which there would be room at once
				t.Error(err)
			}
			if got, want := [...]time.Duration{<-first, time.Since(began)}, [...]time.Duration{10 * time.Second, 20 * time.Second}; got != want {
				t.Errorf("%d instances: calls were let pass after %v: want %v", instances, got, want)
			}
		})
	}
}

// C16
func TestWaitForASlotEnds(t *testing.T) {
	tests := []struct {
		name          string
		wait, timeout time.Duration
		after         time.Duration
		want          string
	}{
		{"at once by default", 0, time.Hour, 0, "m: rate limit exceeded: limit limit has all slots taken: the next lease ends in 1m0s"},
		{"by the rule", 100 * time.Millisecond, time.Hour, 100 * time.Millisecond, "m: rate limit exceeded: limit limit has all slots taken: the next lease ends in 59.9s"},
		{"by the context", 100 * time.Millisecond, 50 * time.Millisecond, 50 * time.Millisecond, "m: rate limit undecided: context deadline exceeded"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				l := newLimiter(t, memlimit.New())
				held := begin(t, l.Guard("m", rule(slots(1, time.Minute))), t.Context())
				defer held.End()
				ctx, cancel := context.WithTimeout(t.Context(), tt.timeout)
				defer cancel()
				start := time.Now()
				_, err := l.Guard("m", waiting(slots(1, time.Minute), tt.wait)).Begin(ctx)
				checkError(t, err, tt.want)
				if after := time.Since(start); after != tt.after {
					t.Errorf("refused after %v: want %v", after, tt.after)
				}
			})
		})
	}
}

func TestCallThatGivesUpLeavesTheLine(t *testing.T) {
	in(t, func(t *testing.T) {
		g := newLimiter(t, memlimit.New()).Guard("m", waiting(slots(1, time.Minute), 10*time.Second))
		held := begin(t, g, t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		first, second := make(chan error), make(chan error)
		go func() {
			_, err := g.Begin(ctx)
			first <- err
		}()
		synctest.Wait()
		go func() {
			call, err := g.Begin(t.Context())
			if err == nil {
				call.End()
			}
			second <- err
		}()
		synctest.Wait()
		cancel()
		checkError(t, <-first, "m: rate limit undecided: context canceled")
		held.End()
		checkError(t, <-second, "")
	})
}

// A slot that another process releases is found by trying.
func TestSlotThatAnotherProcessReleases(t *testing.T) {
	in(t, func(t *testing.T) {
		store := memlimit.New()
		here, there := newLimiter(t, store), newLimiter(t, store)
		limit := waiting(slots(1, time.Minute), 10*time.Second)
		held := begin(t, there.Guard("m", limit), t.Context())
		start := time.Now()
		time.AfterFunc(time.Second, held.End)
		begin(t, here.Guard("m", limit), t.Context()).End()
		if after := time.Since(start); after > 1250*time.Millisecond {
			t.Errorf("found after %v", after)
		}
	})
}

func TestStoreThatFailsWhileACallWaits(t *testing.T) {
	in(t, func(t *testing.T) {
		store := &hooked{Store: memlimit.New()}
		g := newLimiter(t, store).Guard("m", waiting(ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1, Period: time.Second}, time.Minute))
		checkError(t, g.Allow(t.Context()), "")
		tries := 0
		store.take = func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
			if tries++; tries > 1 {
				return errors.New("connection refused")
			}
			return store.Store.Take(ctx, charges, results)
		}
		checkError(t, g.Allow(t.Context()), "m: rate limit undecided: connection refused")
		store.take = nil
		checkError(t, g.Allow(t.Context()), "") // nobody is left in the line
	})
}

// Two limits, the first of which is waited for a shorter time: a call that is not the first in line does not try without
// pause from then on.
func TestCallsInLineDoNotSpin(t *testing.T) {
	in(t, func(t *testing.T) {
		var tries atomic.Int64
		store := &hooked{Store: memlimit.New()}
		store.take = func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
			if tries.Add(1) > 1000 {
				return errors.New("spinning")
			}
			return store.Store.Take(ctx, charges, results)
		}
		g := newLimiter(t, store).Guard("m",
			ratelimit.Rule{Key: "k", Name: "slots", Limit: slots(5, time.Minute), Wait: 100 * time.Millisecond},
			ratelimit.Rule{Key: "k", Name: "window", Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1, Period: time.Second}, Wait: 2500 * time.Millisecond},
		)
		var went []time.Duration
		for _, o := range together(4, func() error {
			call, err := g.Begin(t.Context())
			if err == nil {
				call.End()
			}
			return err
		}) {
			if o.err == nil {
				went = append(went, o.after)
			} else {
				checkError(t, o.err, "m: rate limit exceeded: limit window admits the call in 1s")
			}
		}
		if want := []time.Duration{0, time.Second, 2 * time.Second}; !slices.Equal(went, want) {
			t.Errorf("calls went at %v: want %v", went, want)
		}
		if n := tries.Load(); n > 20 {
			t.Errorf("%d tries", n)
		}
	})
}

func TestCallThatJoinsALineInVainIsRefusedAtOnce(t *testing.T) {
	in(t, func(t *testing.T) {
		window := ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1, Period: 5 * time.Second}
		g := newLimiter(t, memlimit.New()).Guard("m", waiting(window, time.Minute))
		checkError(t, g.Allow(t.Context()), "")
		done := make(chan error)
		go func() { done <- g.Allow(t.Context()) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		checkError(t, g.Allow(ctx), "m: rate limit exceeded: limit limit admits the call in 5s")
		if after := time.Since(start); after != 0 {
			t.Errorf("refused after %v", after)
		}
		checkError(t, <-done, "")
	})
}

func TestCallThatTakesNothingStandsInNoLine(t *testing.T) {
	in(t, func(t *testing.T) {
		g := newLimiter(t, memlimit.New()).Guard("m", ratelimit.Rule{Key: "k", Name: "limit", Limit: slots(1, time.Minute), Wait: 5 * time.Second, CostArg: true})
		held, err := g.Begin(t.Context(), ratelimit.Cost("limit", 1))
		checkError(t, err, "")
		done := make(chan error)
		go func() {
			_, err := g.Begin(t.Context(), ratelimit.Cost("limit", 1))
			done <- err
		}()
		synctest.Wait()
		start := time.Now()
		free, err := g.Begin(t.Context(), ratelimit.Cost("limit", 0))
		checkError(t, err, "")
		if after := time.Since(start); after != 0 {
			t.Errorf("stood in line for %v", after)
		}
		free.End()
		checkError(t, <-done, "m: rate limit exceeded: limit limit has all slots taken: the next lease ends in 55s")
		held.End()
	})
}

// Units that are given back, and slots, wake who waits for them, whatever other limits the call has.
func TestWhatComesBackIsTriedForAtOnce(t *testing.T) {
	window := ratelimit.Rule{Key: "k", Name: "window", Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1, Period: 10 * time.Second}, Wait: time.Minute}
	wide := window
	wide.Limit.Count = 100
	held := ratelimit.Rule{Key: "k", Name: "slots", Limit: slots(1, time.Minute), Wait: time.Minute}
	for name, rules := range map[string][]ratelimit.Rule{"units": {window}, "slots behind a window": {wide, held}} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				g := newLimiter(t, memlimit.New()).Guard("m", rules...)
				first := begin(t, g, t.Context())
				time.AfterFunc(time.Second, func() {
					first.Refund("window")
					first.End()
				})
				start := time.Now()
				begin(t, g, t.Context()).End()
				if after := time.Since(start); after != time.Second {
					t.Errorf("went after %v: want 1s", after)
				}
			})
		})
	}
}
