package redislimit_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// However many call at once, from however many processes, the answers are those to calls one after the other, at the
// server's times.
func TestCallsAtOnceAreDecidedOneAfterTheOther(t *testing.T) {
	const span, count, period, burst = 200 * time.Millisecond, 5, 20 * time.Millisecond, 8
	tests := []struct {
		limit ratelimit.Limit
		most  int // admitted in any period
	}{
		{ratelimit.Limit{Algorithm: ratelimit.TokenBucket, Count: count, Period: period, Burst: burst}, burst + count},
		{ratelimit.Limit{Algorithm: ratelimit.TokenBucket, Count: count, Period: period, Burst: burst, Refill: ratelimit.Interval}, burst + count},
		{ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: count, Period: period}, 2 * count},
		{ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: count, Period: period}, count},
		{ratelimit.Limit{Algorithm: ratelimit.SlidingWindow, Count: count, Period: period}, 2 * count},
		{ratelimit.Limit{Algorithm: ratelimit.LeakyBucket, Count: count, Period: period, Burst: burst}, burst + count},
		{limit: ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 5, Period: time.Minute}}, // hammer counts them
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%v %v", test.limit.Algorithm, test.limit.Refill), func(t *testing.T) {
			all := hammer(t, test.limit, span)
			sameInMemory(t, all)
			var admitted []time.Time
			refused := 0
			for _, d := range all {
				switch {
				case d.refund:
				case d.Allowed:
					admitted = append(admitted, d.at)
				default:
					refused++
				}
			}
			if len(admitted) <= burst+count || refused == 0 {
				t.Errorf("%d admitted, %d refused: the test shows nothing", len(admitted), refused)
			}
			for i, at := range admitted {
				if last := i + test.most; test.most > 0 && last < len(admitted) && admitted[last].Sub(at) < period {
					t.Fatalf("more than %d were admitted in %v", test.most, admitted[last].Sub(at))
				}
			}
		})
	}
}

// sameInMemory checks that a memory store gives the same answers at the same times.
func sameInMemory(t *testing.T, all []decision) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store, results := memlimit.New(), make([]ratelimit.Result, 1)
		for i, d := range all {
			time.Sleep(time.Until(d.at))
			charges := []ratelimit.Charge{d.charge}
			if d.refund {
				if err := store.Refund(t.Context(), charges); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if err := store.Take(t.Context(), charges, results); err != nil {
				t.Fatal(err)
			}
			if d.Result != results[0] {
				t.Fatalf("call %d of %d:\n got %+v\nwant %+v", i, len(all), d.Result, results[0])
			}
		}
	})
}

// ofEach returns a limit of each algorithm.
func ofEach(count int64, period time.Duration) []ratelimit.Limit {
	var limits []ratelimit.Limit
	for _, algorithm := range []ratelimit.Algorithm{
		ratelimit.TokenBucket, ratelimit.FixedWindow, ratelimit.SlidingLog,
		ratelimit.SlidingWindow, ratelimit.LeakyBucket, ratelimit.Concurrency,
	} {
		limits = append(limits, ratelimit.Limit{Algorithm: algorithm, Count: count, Period: period})
	}
	return limits
}

// S18: no call is an error, however many there are at once.
func TestHotKey(t *testing.T) {
	const callers, calls, count = 200, 10, 100
	clients := connect(t, 4)
	for _, limit := range ofEach(count, time.Hour) {
		var allowed, failed atomic.Int64
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				store, results := redislimit.NewPatient(clients[i%len(clients)]), make([]ratelimit.Result, 1)
				for j := range calls {
					c := ratelimit.Charge{Key: []byte("hot"), Name: "1h", Limit: limit, Cost: 1}
					if limit.Algorithm == ratelimit.Concurrency {
						c.Holder = fmt.Sprintf("%d:%d", i, j)
					}
					if err := store.Take(t.Context(), []ratelimit.Charge{c}, results); err != nil {
						failed.Add(1)
					} else if results[0].Allowed {
						allowed.Add(1)
					}
				}
			})
		}
		wg.Wait()
		if allowed.Load() != count || failed.Load() != 0 {
			t.Errorf("%v: %d allowed, %d errors: want %d and none", limit.Algorithm, allowed.Load(), failed.Load(), count)
		}
	}
}

// S19: those that come at the same time do not all find that there is room.
func TestCallsAtTheSameTime(t *testing.T) {
	const callers, count = 10, 5
	rounds := 100
	if testing.Short() { // as under the race detector, where each takes ten times as long
		rounds = 20
	}
	clients := connect(t, callers)
	for _, limit := range ofEach(count, time.Minute) {
		for round := range rounds {
			var allowed atomic.Int64
			var wg sync.WaitGroup
			start := make(chan struct{})
			for i, client := range clients {
				wg.Go(func() {
					c := ratelimit.Charge{Key: fmt.Append(nil, round), Name: "1m", Limit: limit, Cost: 1}
					if limit.Algorithm == ratelimit.Concurrency {
						c.Holder = fmt.Sprint(i)
					}
					results := make([]ratelimit.Result, 1)
					<-start
					if err := redislimit.NewPatient(client).Take(t.Context(), []ratelimit.Charge{c}, results); err != nil {
						t.Error(err)
					}
					if results[0].Allowed {
						allowed.Add(1)
					}
				})
			}
			close(start)
			wg.Wait()
			if n := allowed.Load(); n != count {
				t.Fatalf("%v, round %d: %d allowed: want %d", limit.Algorithm, round, n, count)
			}
		}
	}
}

// R07: in the last millisecond of a window its time to live is 0. If that counts as none, the old count gets another
// period.
func TestWindowsOnTheServersClock(t *testing.T) {
	const span, period, count = 400 * time.Millisecond, 20 * time.Millisecond, 20
	limit := ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: count, Period: period}
	all := hammer(t, limit, span)
	windows, admitted, pauses := 0, 0, 0
	for i, d := range all {
		if i > 0 && d.at.Sub(all[i-1].at) > period/count {
			pauses++
		}
		if d.ResetAfter > period || d.RetryAfter > period {
			t.Fatalf("retry after %v, reset after %v: want at most the period of %v", d.RetryAfter, d.ResetAfter, period)
		}
		if d.Allowed {
			admitted++
			if d.Remaining == count-1 {
				windows++
			}
		}
	}
	// Each window but the last was used up, unless the machine was too busy to call as often.
	if admitted < count*(windows-1-pauses) || admitted > count*windows {
		t.Errorf("%d windows admitted %d: want %d each", windows, admitted, count)
	}
	took := all[len(all)-1].at.Sub(all[0].at)
	if most := int(took/period) + 1; windows < 2 || windows > most {
		t.Errorf("%d windows in %v: want 2 to %d", windows, took, most)
	}
}

// S17: tokens come back one by one, not all at the edge of a second.
func TestRefillOnTheServersClock(t *testing.T) {
	const span, burst, each = 300 * time.Millisecond, 10, 20 * time.Millisecond
	for _, algorithm := range []ratelimit.Algorithm{ratelimit.TokenBucket, ratelimit.LeakyBucket} {
		limit := ratelimit.Limit{Algorithm: algorithm, Count: int64(time.Second / each), Period: time.Second, Burst: burst}
		all := hammer(t, limit, span)
		for _, d := range all {
			if d.RetryAfter > each || d.ResetAfter > burst*each {
				t.Fatalf("%v: retry after %v, reset after %v: want at most %v and %v", algorithm, d.RetryAfter, d.ResetAfter, each, burst*each)
			}
		}
		took := all[len(all)-1].at.Sub(all[0].at)
		admitted := len(slices.DeleteFunc(all, func(d decision) bool { return !d.Allowed }))
		if most := burst + int(took/each); admitted <= burst || admitted > most {
			t.Errorf("%v: admitted %d in %v: want more than the burst of %d and at most %d", algorithm, admitted, took, burst, most)
		}
	}
}
