package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"math"
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
	}), 1, 60).Draw(rt, "events")
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

// play has the events happen to processes that share a store, each with a prefetch, and returns what they admitted. At no time
// may more lie in all of them than is still out of the bucket, nor more than the prefetch in one.
func play(t *testing.T, l ratelimit.Limit, prefetch int64, latency time.Duration, events []event) (passed []admitted, err error) {
	store := memlimit.New()
	limiters, guards := make([]*ratelimit.Limiter, processes), make([]*ratelimit.Guard, processes)
	start := func(i int) {
		limiters[i] = newLimiter(t, faraway{store, latency})
		guards[i] = limiters[i].Guard("m", ratelimit.Rule{Key: "k", Name: "limit", Limit: l, CostArg: true, Prefetch: prefetch})
	}
	for i := range limiters {
		start(i)
	}
	charge := ratelimit.Charge{Key: []byte("k"), Name: "limit", Limit: l}
	lying := func() (sum int64, err error) {
		for _, limiter := range limiters {
			n := limiter.Stocked(charge)
			if n > prefetch {
				return 0, fmt.Errorf("%d units lie in a process: want at most %d", n, prefetch)
			}
			sum += n
		}
		var results [1]ratelimit.Result
		if err := store.Peek(t.Context(), []ratelimit.Charge{charge}, results[:]); err != nil {
			return 0, err
		}
		if out := results[0].Limit - results[0].Remaining; sum > out {
			return 0, fmt.Errorf("%d units lie in processes, of %d that are out", sum, out)
		}
		return sum, nil
	}
	began := time.Now()
	for _, e := range events {
		time.Sleep(e.pause)
		if e.cost == 0 {
			err = limiters[e.process].Close(t.Context())
			start(e.process)
		}
		for i := 0; i < e.calls && e.cost > 0 && err == nil; i++ {
			asked := time.Since(began)
			if err = guards[e.process].Allow(t.Context(), ratelimit.Cost("limit", e.cost)); err == nil {
				passed = append(passed, admitted{asked, time.Since(began), e.cost})
			}
		}
		if err == nil || errors.Is(err, ratelimit.ErrLimited) {
			_, err = lying()
		}
		if err != nil {
			return nil, err
		}
	}
	for _, limiter := range limiters {
		if err := limiter.Close(t.Context()); err != nil {
			return nil, err
		}
	}
	if n, err := lying(); n > 0 || err != nil {
		return nil, fmt.Errorf("%d units lie in processes that are closed, %w", n, err)
	}
	return passed, nil
}

func TestProcessesThatPrefetchNeverAdmitTooMuch(t *testing.T) {
	for _, tt := range stockedLimits {
		t.Run(fmt.Sprintf("%v of %d", tt.limit.Algorithm, tt.limit.Count), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				events := drawEvents(rt, tt.limit)
				prefetch := rapid.Int64Range(2, min(tt.limit.Count, 12)).Draw(rt, "prefetch")
				latency := time.Duration(rapid.SampledFrom([]int64{0, 0, 1, 1000, 20_000_000}).Draw(rt, "latency"))
				var passed []admitted
				var err error
				in(t, func(t *testing.T) { passed, err = play(t, tt.limit, prefetch, latency, events) })
				if err != nil {
					rt.Fatal(err)
				}
				for i, first := range passed {
					sum := int64(0)
					for _, last := range passed[i:] {
						sum += last.cost
						if span := last.answered - first.asked; sum > tt.most(tt.limit, span) {
							rt.Fatalf("%d units in %v, from %v on: want at most %d", sum, span, first.asked, tt.most(tt.limit, span))
						}
					}
				}
			})
		})
	}
}
