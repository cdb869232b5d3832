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

// gate is a memory store whose answers wait until a test lets them go.
type gate struct {
	*counter
	answers chan error // nil is that of the memory store
}

func newGate() *gate {
	g := &gate{counter: newCounter(), answers: make(chan error)}
	take := g.take
	g.take = func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
		err := take(ctx, charges, results)
		select {
		case answer := <-g.answers:
			if answer != nil {
				return answer
			}
		case <-ctx.Done():
			return ctx.Err()
		}
		return err
	}
	return g
}

// ask makes calls in the background and returns where their errors come.
func ask(ctx context.Context, g *ratelimit.Guard, n int) <-chan error {
	errs := make(chan error, n)
	for range n {
		go func() { errs <- g.Allow(ctx) }()
		synctest.Wait()
	}
	return errs
}

func TestCallsWaitForTheRefillThatIsOnItsWay(t *testing.T) {
	in(t, func(t *testing.T) {
		store := newGate()
		errs := ask(t.Context(), newLimiter(t, store).Guard("m", stocked(window(100, time.Hour), 5)), 8)
		store.check(t, 5, 1, 1, 1) // there is none of it for the last three
		store.answers <- nil
		synctest.Wait()
		if len(errs) != 5 && len(errs) != 1 {
			t.Errorf("%d calls have come back: want those of one answer", len(errs))
		}
		for range 3 {
			store.answers <- nil
		}
		for range 8 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		store.check(t)
	})
}

// Those who found nothing here once waited until what came back was enough for all before them, refill after refill.
func TestCallsStarveBesideARefill(t *testing.T) {
	bucket := ratelimit.Limit{Count: 10_000, Period: time.Second}
	for _, tt := range []struct {
		name    string
		limit   ratelimit.Limit
		callers int
		rounds  int
		latency time.Duration // of an answer
		fewer   int64         // questions than calls, at least
	}{
		{"all at once", window(1_000_000, time.Hour), 1000, 1, 5 * time.Millisecond, 1},
		{"again and again", window(1_000_000, time.Hour), 200, 20, 2 * time.Millisecond, 20},
		{"units come back before the answer does", bucket, 200, 50, 2 * time.Millisecond, 0},
	} {
		for _, prefetch := range []int64{2, 10, 100} {
			in(t, func(t *testing.T) {
				store := newCounter()
				take := store.take
				store.take = func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
					time.Sleep(tt.latency)
					return take(ctx, charges, results)
				}
				g := newLimiter(t, store).Guard("m", stocked(tt.limit, prefetch))
				var callers sync.WaitGroup
				worst := make([]time.Duration, tt.callers)
				for i := range worst {
					callers.Go(func() {
						for range tt.rounds {
							began := time.Now()
							if err := g.Allow(t.Context()); err != nil {
								t.Error(err)
							}
							worst[i] = max(worst[i], time.Since(began))
							time.Sleep(40 * time.Millisecond)
						}
					})
				}
				callers.Wait()
				if d := slices.Max(worst); d > 2*tt.latency {
					t.Errorf("%s, prefetch %d: a call took %v: want at most two answers", tt.name, prefetch, d)
				}
				if n := tt.callers*tt.rounds - len(store.asked); int64(n) < tt.fewer {
					t.Errorf("%s, prefetch %d: only %d calls did not ask: want %d", tt.name, prefetch, n, tt.fewer)
				}
			})
		}
	}
}

func TestCallsOnOtherBucketsDoNotWait(t *testing.T) {
	in(t, func(t *testing.T) {
		store := newGate()
		r := stocked(window(100, time.Hour), 5)
		r.Key = "{n}"
		g := newLimiter(t, store).Guard("m", r)
		var calls sync.WaitGroup
		for i := range int64(3) {
			calls.Go(func() { _ = g.Allow(t.Context(), ratelimit.Int(i)) })
		}
		synctest.Wait()
		store.check(t, 5, 5, 5)
		for range 3 {
			store.answers <- nil
		}
		calls.Wait()
	})
}

// The deadlines of these tests are over before units that lie here are given back.
func TestDeadlineOfACallThatWaitsForARefill(t *testing.T) {
	in(t, func(t *testing.T) {
		store := newGate()
		g := newLimiter(t, store).Guard("m", stocked(window(100, time.Hour), 5))
		first := ask(t.Context(), g, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		checkError(t, <-ask(ctx, g, 1), "m: rate limit undecided: context deadline exceeded")
		store.answers <- nil
		checkError(t, <-first, "")
		store.check(t, 5)
	})
}

func TestCallsGoOnTheirOwnWhenTheFirstHasNoTimeLeft(t *testing.T) {
	in(t, func(t *testing.T) {
		store := newGate()
		g := newLimiter(t, store).Guard("m", stocked(window(100, time.Hour), 5))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		first := ask(ctx, g, 1)
		others := ask(t.Context(), g, 3)
		checkError(t, <-first, "m: rate limit undecided: context deadline exceeded")
		synctest.Wait()
		store.check(t, 5, 1, 1, 1) // the first five are lost
		for range 3 {
			store.answers <- nil
			checkError(t, <-others, "")
		}
	})
}

func TestCallsGoOnTheirOwnWhenARefillFails(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fail  func(store *gate)
		first string
	}{
		{"by an error", func(store *gate) { store.answers <- errors.New("connection refused") }, "m: rate limit undecided: connection refused"},
		{
			"as there is less", func(store *gate) {
				charges := []ratelimit.Charge{{Key: []byte("k"), Name: "limit", Limit: window(8, time.Hour), Cost: 8}}
				if err := store.Reset(context.Background(), charges); err != nil {
					panic(err)
				}
				store.answers <- nil
			}, "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				store := newGate()
				g := newLimiter(t, store, ratelimit.OnFailure(ratelimit.FailClosed)).Guard("m", stocked(window(8, time.Hour), 4))
				errs := ask(t.Context(), g, 1)
				others := ask(t.Context(), g, 3)
				tt.fail(store)
				checkError(t, <-errs, tt.first)
				synctest.Wait()
				if tt.first != "" {
					store.check(t, 4, 1, 1, 1) // together
					for range 3 {
						store.answers <- nil
					}
				}
				for range 3 {
					checkError(t, <-others, "")
				}
			})
		})
	}
}

func TestNobodyWaitsForACallThatPanics(t *testing.T) {
	in(t, func(t *testing.T) {
		store := newGate()
		g := newLimiter(t, store).Guard("m", stocked(window(100, time.Hour), 5))
		take := store.take
		store.take = func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
			if err := take(ctx, charges, results); err != nil {
				panic(err)
			}
			return nil
		}
		panicked := make(chan any)
		go func() {
			defer func() { panicked <- recover() }()
			_ = g.Allow(t.Context())
		}()
		synctest.Wait()
		others := ask(t.Context(), g, 2)
		store.answers <- errors.New("a hook")
		if p := <-panicked; p == nil {
			t.Error("the caller does not see the panic")
		}
		synctest.Wait()
		store.check(t, 5, 1, 1)
		for range 2 {
			store.answers <- nil
			checkError(t, <-others, "")
		}
	})
}

// What was taken earlier and is told of later has come back by then, and makes nothing else last longer.
func TestUnitsLastTooLongAfterALateAnswer(t *testing.T) {
	in(t, func(t *testing.T) {
		limit := ratelimit.Limit{Count: 10, Period: time.Second}
		store := newCounter()
		take, latencies := store.take, []time.Duration{50 * time.Millisecond, time.Second, time.Second, time.Second, 0}
		store.take = func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
			latency := latencies[0]
			latencies = latencies[1:]
			err := take(ctx, charges, results)
			time.Sleep(latency)
			return err
		}
		l := newLimiter(t, store)
		g := l.Guard("m", stocked(limit, 2))
		errs := ask(t.Context(), g, 5)
		time.Sleep(900 * time.Millisecond)
		calls(t, g, 1)
		store.check(t, 2, 1, 1, 1, 2)
		for _, tt := range []struct {
			after time.Duration
			lie   int64
		}{{90 * time.Millisecond, 1}, {50 * time.Millisecond, 0}} {
			time.Sleep(tt.after)
			if n := l.Stocked(ratelimit.Charge{Key: []byte("k"), Name: "limit", Limit: limit}); n != tt.lie {
				t.Errorf("%d units lie here: want %d", n, tt.lie)
			}
		}
		for range 5 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	})
}

// Two calls that need the same buckets, in another order, and each has what the other lacks.
func TestCallsOnSeveralBucketsDoNotWaitForEachOther(t *testing.T) {
	in(t, func(t *testing.T) {
		a, b := stocked(window(1000, time.Hour), 2), stocked(window(1000, time.Hour), 3)
		a.Key, a.Name, b.Key, b.Name = "a", "a", "b", "b"
		l := newLimiter(t, faraway{memlimit.New(), time.Millisecond})
		ab, ba := l.Guard("m", a, b), l.Guard("m", b, a)
		var calls sync.WaitGroup
		var errs [200]error
		for i := range errs {
			g := ab
			if i%2 == 0 {
				g = ba
			}
			calls.Go(func() { errs[i] = g.Allow(t.Context()) })
		}
		calls.Wait()
		if i := slices.IndexFunc(errs[:], func(err error) bool { return err != nil }); i >= 0 {
			t.Error(errs[i])
		}
	})
}
