package ratelimit_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// event is something that happens to one of several processes: after a pause, it is called some times at that cost, or closed
// and started anew.
type event struct {
	process int
	pause   time.Duration
	calls   int
	cost    int64 // 0: closed
}

// admitted is a call that some process let pass.
type admitted struct {
	asked, answered time.Duration
	cost            int64
}

const processes = 4

// stockedLimits are limits of which units may lie in processes, and the most that each may admit in a span of time.
var stockedLimits = []struct {
	limit ratelimit.Limit
	most  func(l ratelimit.Limit, span time.Duration) int64
}{
	{ratelimit.Limit{Count: 7, Period: 100 * time.Millisecond, Burst: 20}, refillsOneByOne},
	{ratelimit.Limit{Algorithm: ratelimit.LeakyBucket, Count: 1000, Period: 3 * time.Second, Burst: 30}, refillsOneByOne},
	{ratelimit.Limit{Algorithm: ratelimit.LeakyBucket, Count: 30, Period: time.Hour}, refillsOneByOne},
	{ratelimit.Limit{Count: 1000, Period: time.Second, Burst: 60}, refillsOneByOne},
	{
		ratelimit.Limit{Count: 10, Period: 300 * time.Millisecond, Burst: 25, Refill: ratelimit.Interval},
		func(l ratelimit.Limit, span time.Duration) int64 {
			return l.Capacity() + int64(span/l.Period+1)*l.Count // one refill more than there are whole periods
		},
	},
	{
		ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 20, Period: 300 * time.Millisecond},
		func(l ratelimit.Limit, span time.Duration) int64 { return int64(span/l.Period+2) * l.Count },
	},
}

func refillsOneByOne(l ratelimit.Limit, span time.Duration) int64 {
	return l.Capacity() + int64(math.Floor(float64(span)*float64(l.Count)/float64(l.Period)+1e-9))
}

func drawEvents(rt *rapid.T, l ratelimit.Limit) []event {
	aUnit := l.Period / time.Duration(l.Count)
	n := rapid.SampledFrom([]int{1, 5, 20, 60}).Draw(rt, "number of events") // rapid's own choice is short traces
	return rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) event {
		e := event{process: rapid.IntRange(0, processes-1).Draw(rt, "process")}
		switch rapid.IntRange(0, 9).Draw(rt, "pause") {
		case 0:
			e.pause = time.Duration(rapid.Int64Range(0, int64(3*time.Second)).Draw(rt, "idle"))
		case 1:
			e.pause = l.Period
		case 2, 3:
			e.pause = time.Duration(rapid.Int64Range(0, int64(9*aUnit)).Draw(rt, "short"))
		}
		e.calls = rapid.SampledFrom([]int{1, 1, 1, 3, 30}).Draw(rt, "calls")
		if rapid.IntRange(0, 20).Draw(rt, "what") > 0 {
			e.cost = rapid.SampledFrom([]int64{1, 1, 1, 2, 9}).Draw(rt, "cost")
		}
		return e
	}), n, n).Draw(rt, "events")
}

// faraway is a memory store that takes its time before it decides, and after.
type faraway struct {
	*memlimit.Store
	latency time.Duration
}

func (s faraway) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	time.Sleep(s.latency)
	defer time.Sleep(s.latency)
	return s.Store.Take(ctx, charges, results)
}

// fleet is some processes that share a store, each with a prefetch.
type fleet struct {
	store    *memlimit.Store
	latency  time.Duration
	rule     ratelimit.Rule
	informed int // processes that know how many there are
	limiters [processes]*ratelimit.Limiter
	guards   [processes]*ratelimit.Guard
	began    time.Time

	mu     sync.Mutex
	passed []admitted
	errs   []error
}

func (f *fleet) start(t *testing.T, i int) {
	var opts []ratelimit.Option
	if i < f.informed {
		opts = append(opts, ratelimit.Instances(processes))
	}
	f.limiters[i] = newLimiter(t, faraway{f.store, f.latency}, opts...)
	f.guards[i] = f.limiters[i].Guard("m", f.rule)
}

// call makes the calls of an event.
func (f *fleet) call(ctx context.Context, g *ratelimit.Guard, e event) {
	for range e.calls {
		asked := time.Since(f.began)
		err := g.Allow(ctx, ratelimit.Cost(f.rule.Name, e.cost))
		f.mu.Lock()
		switch {
		case err == nil:
			f.passed = append(f.passed, admitted{asked, time.Since(f.began), e.cost})
		case !errors.Is(err, ratelimit.ErrLimited):
			f.errs = append(f.errs, err)
		}
		f.mu.Unlock()
	}
}

// lying returns how many units lie in all processes. At no time may there be more than are still out of the bucket, nor more
// than the prefetch in one of them.
func (f *fleet) lying(ctx context.Context) (int64, error) {
	charges := []ratelimit.Charge{{Key: []byte(f.rule.Key), Name: f.rule.Name, Limit: f.rule.Limit}}
	sum := int64(0)
	for _, limiter := range f.limiters {
		n := limiter.Stocked(charges[0])
		if n > f.rule.Prefetch {
			return 0, fmt.Errorf("%d units lie in a process: want at most %d", n, f.rule.Prefetch)
		}
		sum += n
	}
	results := make([]ratelimit.Result, 1)
	if err := f.store.Peek(ctx, charges, results); err != nil {
		return 0, err
	}
	if out := results[0].Limit - results[0].Remaining; sum > out {
		return 0, fmt.Errorf("%d units lie in processes, of %d that are out", sum, out)
	}
	return sum, nil
}

// play has the events happen, each when the one before is over or else when its pause is, and returns what was admitted.
func (f *fleet) play(t *testing.T, events []event, together bool) ([]admitted, error) {
	f.began = time.Now()
	for i := range f.limiters {
		f.start(t, i)
	}
	var calls sync.WaitGroup
	for _, e := range events {
		time.Sleep(e.pause)
		g, limiter := f.guards[e.process], f.limiters[e.process]
		do := func() { f.call(t.Context(), g, e) }
		if e.cost == 0 {
			f.start(t, e.process)
			do = func() {
				if err := limiter.Close(t.Context()); err != nil {
					t.Error(err)
				}
			}
		}
		calls.Go(do)
		if !together {
			calls.Wait()
		}
		_, err := f.lying(t.Context())
		f.errs = append(f.errs, err)
	}
	calls.Wait()
	for _, limiter := range f.limiters {
		f.errs = append(f.errs, limiter.Close(t.Context()))
	}
	n, err := f.lying(t.Context())
	if n > 0 {
		err = fmt.Errorf("%d units lie in processes that are closed", n)
	}
	return f.passed, errors.Join(append(f.errs, err)...)
}

func TestProcessesThatPrefetchNeverAdmitTooMuch(t *testing.T) {
	for _, tt := range stockedLimits {
		t.Run(fmt.Sprintf("%v of %d", tt.limit.Algorithm, tt.limit.Count), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				events := drawEvents(rt, tt.limit)
				prefetch := rapid.Int64Range(2, min(tt.limit.Count, 12)).Draw(rt, "prefetch")
				latency := time.Duration(rapid.SampledFrom([]int64{0, 0, 1, 1000, 20_000_000}).Draw(rt, "latency"))
				together := rapid.Bool().Draw(rt, "together")
				informed := rapid.SampledFrom([]int{0, processes / 2, processes}).Draw(rt, "informed")
				if together && informed > 0 { // there would be more while one is closed
					events = slices.DeleteFunc(events, func(e event) bool { return e.cost == 0 })
				}
				var passed []admitted
				var err error
				in(t, func(t *testing.T) {
					f := &fleet{store: memlimit.New(), latency: latency, informed: informed}
					f.rule = ratelimit.Rule{Key: "k", Name: "limit", Limit: tt.limit, CostArg: true, Prefetch: prefetch}
					passed, err = f.play(t, events, together)
				})
				if err != nil {
					rt.Fatal(err)
				}
				// The store does not tell the parts of a microsecond.
				slices.SortFunc(passed, func(a, b admitted) int { return cmp.Compare(a.asked, b.asked) })
				for i, first := range passed {
					sum, answered := int64(0), time.Duration(0)
					for _, last := range passed[i:] {
						sum, answered = sum+last.cost, max(answered, last.answered)
						if span := answered - first.asked + time.Microsecond; sum > tt.most(tt.limit, span) {
							rt.Fatalf("%d units in %v, from %v on: want at most %d", sum, span, first.asked, tt.most(tt.limit, span))
						}
					}
				}
			})
		})
	}
}
