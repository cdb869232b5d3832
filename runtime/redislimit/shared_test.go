package redislimit_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// lasting returns a charge of one of a few buckets to which nothing comes back while a test lasts, by one of several limits.
func lasting(r *rand.Rand, era int) ratelimit.Charge {
	return ratelimit.Charge{
		Key:  fmt.Appendf(nil, "%d/%d", era, r.IntN(3)),
		Name: "limit",
		Limit: ratelimit.Limit{
			Algorithm: []ratelimit.Algorithm{ratelimit.TokenBucket, ratelimit.LeakyBucket}[r.IntN(2)],
			Count:     25, Period: 87600 * time.Hour, Burst: []int64{50, 75, mostLasting}[r.IntN(3)],
		},
		Cost:  1 + r.Int64N(3),
		Fresh: r.IntN(3) == 0,
	}
}

const mostLasting = 100

// Callers of one Store share exchanges, questions and what is remembered of refusals. What they were admitted is what is
// stored, and whom a limit refused would not have fit. In real time, so that the race detector sees it.
func TestCallersOfOneStore(t *testing.T) {
	t.Parallel()
	const (
		callers = 64
		lasts   = redislimit.SteadySpan + 1500*time.Millisecond
		era     = 100 * time.Millisecond // for which a bucket is asked for
	)
	store := redislimit.NewPatient(redistest.Client(t))
	var mu sync.Mutex
	admitted, refused := map[string]int64{}, []ratelimit.Charge(nil)
	buckets := map[string]ratelimit.Charge{}
	name := func(c *ratelimit.Charge) string { return fmt.Sprintf("%s %v", c.Key, c.Limit.Algorithm) }

	began := time.Now()
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for r := rand.New(rand.NewPCG(uint64(i), 0)); time.Since(began) < lasts; {
				var charges []ratelimit.Charge
				for range 1 + r.IntN(3) {
					charges = append(charges, lasting(r, int(time.Since(began)/era)))
				}
				if ratelimit.CheckCharges(charges) != nil { // of the same bucket
					continue
				}
				results := make([]ratelimit.Result, len(charges))
				if err := store.Take(t.Context(), charges, results); err != nil {
					t.Error(err)
					return
				}
				fits := true
				for i := range results {
					fits = fits && results[i].Allowed
				}
				mu.Lock()
				for i := range charges {
					c := &charges[i]
					buckets[name(c)] = *c
					switch {
					case fits:
						admitted[name(c)] += c.Cost
					case !results[i].Allowed:
						refused = append(refused, *c)
					}
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()

	remembered := store.Denied()
	for name, c := range buckets {
		c.Limit.Burst = mostLasting
		results := make([]ratelimit.Result, 1)
		if err := store.Peek(t.Context(), []ratelimit.Charge{c}, results); err != nil {
			t.Fatal(err)
		}
		if used := mostLasting - results[0].Remaining; used != admitted[name] {
			t.Errorf("%s: %d units are stored and %d were admitted", name, used, admitted[name])
		}
	}
	for i := range refused {
		if c := &refused[i]; admitted[name(c)]+c.Cost <= c.Limit.Capacity() {
			t.Errorf("%s: a call for %d units was refused by a limit of %d, and %d were admitted in all", name(c), c.Cost, c.Limit.Capacity(), admitted[name(c)])
		}
	}
	if len(refused) == 0 || remembered == 0 {
		t.Errorf("%d were refused, and %d calls are remembered: want some", len(refused), remembered)
	}
	t.Logf("%d buckets, %d refusals, %d calls remembered", len(buckets), len(refused), remembered)
}
