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

// A renewal that timed out is the store's fault: the caller, who has time left, must not take it for the end of its own.
func TestLostLeaseIsNotTheCallersDeadline(t *testing.T) {
	in(t, func(t *testing.T) {
		store := &hooked{Store: memlimit.New()}
		store.renew = func(ctx context.Context, _ []ratelimit.Charge, _ []bool) error {
			<-ctx.Done()
			return ctx.Err()
		}
		told := make(chan error, 2)
		observer := observe(func(_ context.Context, e *ratelimit.Event) {
			if errors.Is(e.Err, ratelimit.ErrLeaseLost) {
				told <- e.Err
			}
		})
		g := newLimiter(t, store, ratelimit.OnFailure(ratelimit.FailClosed), ratelimit.Observe(observer)).Guard("m",
			ratelimit.Rule{Key: "k", Name: "slots", Limit: slots(5, time.Second)},
			ratelimit.Rule{Key: "k", Name: "pace", Limit: ratelimit.Limit{Count: 1, Period: 10 * time.Second}, Wait: time.Minute},
		)
		call := begin(t, g, t.Context())
		<-call.Context().Done()
		_, err := g.Begin(t.Context())
		checkError(t, err, "m: rate limit undecided: lease lost: context deadline exceeded")
		for _, err := range []error{context.Cause(call.Context()), err} {
			if !errors.Is(err, ratelimit.ErrLeaseLost) || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v matches the error of a context, or not %v", err, ratelimit.ErrLeaseLost)
			}
		}
		for range 2 {
			if err := <-told; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("observers are told %v: want the store's error as it is", err)
			}
		}
		call.End()
		time.Sleep(time.Second) // what is under way to the store ends
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

// A renewal that comes while a call gives its slot back is none that has lost it.
func TestCallThatGivesUpHasNotLostItsSlot(t *testing.T) {
	in(t, func(t *testing.T) {
		var told errorsOf
		store := &hooked{Store: memlimit.New()}
		store.refund = func(ctx context.Context, charges []ratelimit.Charge) error {
			err := store.Store.Refund(ctx, charges)
			time.Sleep(900 * time.Millisecond) // the reply takes its time
			return err
		}
		g := newLimiter(t, store, told.option()).Guard("m",
			ratelimit.Rule{Key: "k", Name: "slots", Limit: slots(2, 900*time.Millisecond)},
			ratelimit.Rule{Key: "k", Name: "pace", Limit: ratelimit.Limit{Count: 1, Period: 10 * time.Second}, Wait: time.Minute},
		)
		begin(t, g, t.Context()).End()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := g.Begin(ctx)
		checkError(t, err, "m: rate limit undecided: context canceled")
		time.Sleep(time.Second)
		told.check(t)
	})
}

// What is told of a call that is refused since its turn would be too late is how the limits stand after it.
func TestResultsOfACallWhoseTurnIsTooLate(t *testing.T) {
	in(t, func(t *testing.T) {
		g := newLimiter(t, memlimit.New()).Guard("m",
			ratelimit.Rule{Key: "k", Name: "window", Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 10, Period: time.Minute}},
			ratelimit.Rule{Key: "k", Name: "pace", Limit: ratelimit.Limit{Count: 1, Period: 10 * time.Second}, Wait: time.Minute},
		)
		checkError(t, g.Allow(t.Context()), "")
		recorded := &recorder{}
		ctx, cancel := context.WithTimeout(ratelimit.WithRecorder(t.Context(), recorded), time.Second)
		defer cancel()
		checkError(t, g.Allow(ctx), "m: rate limit exceeded: limit pace admits the call in 10s")
		if want := []string{"m window true 9", "m pace false 0"}; !slices.Equal(recorded.lines, want) {
			t.Errorf("recorded %q: want %q", recorded.lines, want)
		}
	})
}
