package redislimit_test

import (
	"cmp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// decision is a result and when its caller had it.
type decision struct {
	ratelimit.Result
	at time.Duration
}

// hammer calls as fast as it can for a while, from several clients at once.
func hammer(t *testing.T, limit ratelimit.Limit, span time.Duration) []decision {
	t.Helper()
	const workers = 8
	store := redislimit.New(redistest.Client(t))
	var mu sync.Mutex
	var all []decision
	var wg sync.WaitGroup
	start := time.Now()
	for range workers {
		wg.Go(func() {
			var mine []decision
			charges := []ratelimit.Charge{{Key: []byte("hammered"), Name: "limit", Limit: limit, Cost: 1}}
			results := make([]ratelimit.Result, 1)
			for time.Since(start) < span {
				if err := store.Take(t.Context(), charges, results); err != nil {
					t.Error(err)
					return
				}
				mine = append(mine, decision{results[0], time.Since(start)})
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, mine...)
		})
	}
	wg.Wait()
	return all
}

// R07: in the last millisecond of a window its time to live is 0. If that counts as none, the old count gets another
// period.
func TestWindowsOnTheServersClock(t *testing.T) {
	const span, period, count = 600 * time.Millisecond, 20 * time.Millisecond, 20
	limit := ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: count, Period: period}
	windows, admitted, pauses := 0, 0, 0
	var end time.Duration
	all := hammer(t, limit, span)
	slices.SortFunc(all, func(a, b decision) int { return cmp.Compare(a.at, b.at) })
	for _, d := range all {
		if d.at-end > period/count {
			pauses++
		}
		end = d.at
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
	if most := int(end/period) + 1; windows < 2 || windows > most {
		t.Errorf("%d windows in %v: want 2 to %d", windows, end, most)
	}
}

// S17: tokens come back one by one, not all at the edge of a second.
func TestRefillOnTheServersClock(t *testing.T) {
	const span, burst, each = 500 * time.Millisecond, 10, 20 * time.Millisecond
	for _, algorithm := range []ratelimit.Algorithm{ratelimit.TokenBucket, ratelimit.LeakyBucket} {
		limit := ratelimit.Limit{Algorithm: algorithm, Count: int64(time.Second / each), Period: time.Second, Burst: burst}
		admitted := 0
		var end time.Duration
		for _, d := range hammer(t, limit, span) {
			end = max(end, d.at)
			if d.RetryAfter > each || d.ResetAfter > burst*each {
				t.Fatalf("%v: retry after %v, reset after %v: want at most %v and %v", algorithm, d.RetryAfter, d.ResetAfter, each, burst*each)
			}
			if d.Allowed {
				admitted++
			}
		}
		if most := burst + int(end/each) + 1; admitted <= burst || admitted > most {
			t.Errorf("%v: admitted %d in %v: want more than the burst of %d and at most %d", algorithm, admitted, end, burst, most)
		}
	}
}
