package ratelimit_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

func waiting(limit ratelimit.Limit, wait time.Duration) ratelimit.Rule {
	return ratelimit.Rule{Key: "k", Name: "limit", Limit: limit, Wait: wait}
}

// outcome is what became of a call, and after what time.
type outcome struct {
	after time.Duration
	err   error
}

// together makes n calls at once, one millisecond after the other if they are to come in order, and returns their outcomes
// in order of time.
func together(n int, call func() error) []outcome {
	var mu sync.Mutex
	var all []outcome
	var wg sync.WaitGroup
	start := time.Now()
	for range n {
		wg.Go(func() {
			err := call()
			mu.Lock()
			defer mu.Unlock()
			all = append(all, outcome{time.Since(start), err})
		})
		synctest.Wait()
	}
	wg.Wait()
	return all
}

// R42 (a)
func TestCallsWaitForTheirTurns(t *testing.T) {
	for _, algorithm := range []ratelimit.Algorithm{ratelimit.TokenBucket, ratelimit.LeakyBucket} {
		t.Run(algorithm.String(), func(t *testing.T) {
			in(t, func(t *testing.T) {
				limit := ratelimit.Limit{Algorithm: algorithm, Count: 5, Period: time.Second, Burst: 1}
				g := newLimiter(t, memlimit.New()).Guard("m", waiting(limit, time.Second))
				var went []time.Duration
				refused := 0
				for _, o := range together(1000, func() error { return g.Allow(t.Context()) }) {
					switch {
					case o.err == nil:
						went = append(went, o.after)
					case o.after != 0:
						t.Errorf("refused after %v: %v", o.after, o.err)
					default:
						checkError(t, o.err, "m: rate limit exceeded: limit limit admits the call in 200ms")
						refused++
					}
				}
				want := []time.Duration{0, 200 * time.Millisecond, 400 * time.Millisecond, 600 * time.Millisecond, 800 * time.Millisecond, time.Second}
				if !slices.Equal(went, want) || refused != 994 {
					t.Errorf("went at %v, %d refused", went, refused)
				}
			})
		})
	}
}

// R42 (b)
func TestPacedCalls(t *testing.T) {
	in(t, func(t *testing.T) {
		limit := ratelimit.Limit{Count: 1, Period: time.Second}
		g := newLimiter(t, memlimit.New()).Guard("m", waiting(limit, 5*time.Second))
		start := time.Now()
		for i := range 3 {
			checkError(t, g.Allow(t.Context()), "")
			if after := time.Since(start); after != time.Duration(i)*time.Second {
				t.Errorf("call %d went after %v", i, after)
			}
		}
	})
}

func TestWaitThatEndsGivesThePlaceBack(t *testing.T) {
	limit := ratelimit.Limit{Count: 1, Period: time.Second}
	in(t, func(t *testing.T) {
		g := newLimiter(t, memlimit.New()).Guard("m", waiting(limit, 5*time.Second))
		checkError(t, g.Allow(t.Context()), "")
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(500*time.Millisecond, cancel)
		err := g.Allow(ctx)
		checkError(t, err, "m: rate limit undecided: context canceled")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %#v", err)
		}
		start := time.Now()
		checkError(t, g.Allow(t.Context()), "")
		if after := time.Since(start); after != 500*time.Millisecond {
			t.Errorf("the next call went after %v: want the place of the one that gave up, 500ms", after)
		}
	})
}

func TestWaitThatCannotBeEnoughIsRefusedAtOnce(t *testing.T) {
	second := ratelimit.Limit{Count: 1, Period: time.Second}
	window := ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1, Period: time.Minute}
	tests := []struct {
		name    string
		rule    ratelimit.Rule
		timeout time.Duration // of the context
		want    string
	}{
		{"in advance", waiting(second, 400*time.Millisecond), time.Hour, "m: rate limit exceeded: limit limit admits the call in 600ms"},
		{"in advance, but the context ends", waiting(second, time.Minute), 400 * time.Millisecond, "m: rate limit exceeded: limit limit admits the call in 1s"},
		{"window", waiting(window, 59*time.Second), time.Hour, "m: rate limit exceeded: limit limit admits the call in 1m0s"},
		{"window, but the context ends", waiting(window, time.Hour), time.Second, "m: rate limit exceeded: limit limit admits the call in 1m0s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				g := newLimiter(t, memlimit.New()).Guard("m", tt.rule)
				checkError(t, g.Allow(t.Context()), "")
				ctx, cancel := context.WithTimeout(t.Context(), tt.timeout)
				defer cancel()
				start := time.Now()
				checkError(t, g.Allow(ctx), tt.want)
				checkError(t, g.Allow(ctx), tt.want) // the first changed nothing
				if after := time.Since(start); after != 0 {
					t.Errorf("refused after %v", after)
				}
			})
		})
	}
}

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
				var mu sync.Mutex
				var order []int
				var at []time.Duration
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
						mu.Lock()
						order, at = append(order, i), append(at, time.Since(start))
						mu.Unlock()
						if tt.limit.Algorithm == ratelimit.Concurrency {
							time.Sleep(3 * time.Second)
						}
					})
					synctest.Wait()
				}
				wg.Wait()
				if !slices.IsSorted(order) || len(order) != len(tt.want) {
					t.Errorf("calls went in the order %v", order)
				}
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

// C16
func TestWaitForASlotEnds(t *testing.T) {
	tests := []struct {
		name          string
		wait, timeout time.Duration
		after         time.Duration
		want          string
	}{
		{"at once by default", 0, time.Hour, 0, "m: rate limit exceeded: limit limit admits the call in 1m0s"},
		{"by the rule", 100 * time.Millisecond, time.Hour, 100 * time.Millisecond, "m: rate limit exceeded: limit limit admits the call in 59.9s"},
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

func TestWaitOfSeveralLimits(t *testing.T) {
	in(t, func(t *testing.T) {
		store := memlimit.New()
		g := newLimiter(t, store).Guard("m",
			ratelimit.Rule{Key: "k", Name: "slots", Limit: slots(1, time.Minute), Wait: 10 * time.Second},
			ratelimit.Rule{Key: "k", Name: "pace", Limit: ratelimit.Limit{Count: 1, Period: time.Second}, Wait: 3 * time.Second},
		)
		var calls []time.Duration
		start := time.Now()
		for _, o := range together(4, func() error {
			call, err := g.Begin(t.Context())
			if err != nil {
				return err
			}
			defer call.End()
			calls = append(calls, time.Since(start))
			time.Sleep(100 * time.Millisecond)
			return nil
		}) {
			checkError(t, o.err, "")
		}
		want := []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second}
		if !slices.Equal(calls, want) {
			t.Errorf("calls went at %v: want %v", calls, want)
		}
		if n := store.Len(); n != 1 {
			t.Errorf("%d buckets are left: want the pace's", n)
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

func TestSlotIsKeptWhileTheCallWaitsForItsTurn(t *testing.T) {
	in(t, func(t *testing.T) {
		g := newLimiter(t, memlimit.New()).Guard("m",
			ratelimit.Rule{Key: "k", Name: "slots", Limit: slots(2, time.Second)},
			ratelimit.Rule{Key: "k", Name: "pace", Limit: ratelimit.Limit{Count: 1, Period: 10 * time.Second}, Wait: time.Minute},
		)
		begin(t, g, t.Context()).End()
		start := time.Now()
		call := begin(t, g, t.Context())
		if after := time.Since(start); after != 10*time.Second || call.Context().Err() != nil {
			t.Errorf("went after %v, its context: %v", after, call.Context().Err())
		}
		call.End()
	})
}

func TestSlotThatIsLostWhileTheCallWaitsForItsTurn(t *testing.T) {
	in(t, func(t *testing.T) {
		var told errorsOf
		memory := memlimit.New()
		g := newLimiter(t, struct{ ratelimit.Store }{memory}, told.option()).Guard("m", // which renews nothing
			ratelimit.Rule{Key: "k", Name: "slots", Limit: slots(2, time.Second)},
			ratelimit.Rule{Key: "k", Name: "pace", Limit: ratelimit.Limit{Count: 1, Period: 10 * time.Second}, Wait: time.Minute},
		)
		begin(t, g, t.Context()).End()
		_, err := g.Begin(t.Context())
		checkError(t, err, "m: rate limit undecided: lease lost")
		told.check(t, "m: limit slots: lease lost")
		start := time.Now()
		paced := ratelimit.Charge{Key: []byte("k"), Name: "pace", Limit: ratelimit.Limit{Count: 1, Period: 10 * time.Second}, Cost: 1}
		results := make([]ratelimit.Result, 1)
		if err := memory.Peek(t.Context(), []ratelimit.Charge{paced}, results); err != nil || results[0].RetryAfter != 9*time.Second {
			t.Errorf("%+v, %v after %v: want the place to be given back", results[0], err, time.Since(start))
		}
	})
}

// R40
func TestCallThatGivesUpTakesNothingFromALaterWindow(t *testing.T) {
	in(t, func(t *testing.T) {
		store := memlimit.New()
		l := newLimiter(t, store)
		window := ratelimit.Rule{Key: "k", Name: "window", Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 10, Period: time.Second}}
		g := l.Guard("m", window, ratelimit.Rule{Key: "k", Name: "pace", Limit: ratelimit.Limit{Count: 1, Period: 10 * time.Second}, Wait: 20 * time.Second})
		checkError(t, g.Allow(t.Context()), "")
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		ctx = noDeadline{ctx}
		time.AfterFunc(4900*time.Millisecond, func() { checkError(t, l.Guard("other", window).Allow(t.Context()), "") })
		checkError(t, g.Allow(ctx), "m: rate limit undecided: context deadline exceeded")
		results := make([]ratelimit.Result, 1)
		if err := store.Peek(t.Context(), []ratelimit.Charge{{Key: []byte("k"), Name: "window", Limit: window.Limit}}, results); err != nil || results[0].Remaining != 9 {
			t.Errorf("%+v, %v: want 9 to remain", results[0], err)
		}
	})
}

// noDeadline is a context that ends without having said when.
type noDeadline struct{ context.Context }

func (noDeadline) Deadline() (time.Time, bool) { return time.Time{}, false }
