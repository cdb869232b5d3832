package redislimit_test

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// D06: keys of limits that are no more leave by themselves.
func TestKeysOfFormerLimitsExpire(t *testing.T) {
	server := newMini(t)
	limiter, err := ratelimit.New(redislimit.NewPatient(server.client))
	if err != nil {
		t.Fatal(err)
	}
	window := func(count int64, period time.Duration, name string) ratelimit.Rule {
		limit := ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: count, Period: period}
		return ratelimit.Rule{Key: "k", Name: name, Limit: limit}
	}
	three := limiter.Guard("m", window(10, time.Second, "a"), window(500, time.Minute, "b"), window(10_000, time.Hour, "c"))
	one := limiter.Guard("m", window(300, 24*time.Hour, "d"))
	for _, guard := range []*ratelimit.Guard{three, one} {
		if err := guard.Allow(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	steps := []struct {
		pause time.Duration
		keys  []string
	}{
		{0, []string{"rl:{k}:fw:a", "rl:{k}:fw:b", "rl:{k}:fw:c", "rl:{k}:fw:d"}},
		{2 * time.Second, []string{"rl:{k}:fw:b", "rl:{k}:fw:c", "rl:{k}:fw:d"}},
		{time.Minute, []string{"rl:{k}:fw:c", "rl:{k}:fw:d"}},
		{time.Hour, []string{"rl:{k}:fw:d"}},
		{24 * time.Hour, nil},
	}
	for _, step := range steps {
		server.advance(step.pause)
		if keys := server.Keys(); !slices.Equal(keys, step.keys) {
			t.Errorf("%v later there are %q, want %q", step.pause, keys, step.keys)
		}
	}
}

// D06: while processes of the old and the new configuration run side by side, no call fails, and each bucket admits its count.
func TestLimitsAreReplacedUnderTraffic(t *testing.T) {
	clients := connect(t, 4)
	const callers, calls, count = 8, 50, 100
	limit := func(algorithm ratelimit.Algorithm) ratelimit.Rule {
		return ratelimit.Rule{Key: "k", Name: "n", Limit: ratelimit.Limit{Algorithm: algorithm, Count: count, Period: time.Hour}}
	}
	named := func(r ratelimit.Rule, name string) ratelimit.Rule {
		r.Name = name
		return r
	}
	window, leaky := limit(ratelimit.FixedWindow), limit(ratelimit.LeakyBucket)
	configurations := [][]ratelimit.Rule{
		{window, named(window, "second"), named(window, "third")}, // what was
		{leaky},                       // another algorithm under the name
		{limit(ratelimit.SlidingLog)}, // and another
		{named(window, "only")},       // one limit in place of three
	}
	admitted := make([]atomic.Int64, len(configurations))
	var wg sync.WaitGroup
	for i := range callers * len(configurations) {
		configuration := i % len(configurations)
		limiter, err := ratelimit.New(redislimit.NewPatient(clients[i%len(clients)]), ratelimit.OnFailure(ratelimit.FailClosed))
		if err != nil {
			t.Fatal(err)
		}
		guard := limiter.Guard("m", configurations[configuration]...)
		wg.Go(func() {
			for range calls {
				switch err := guard.Allow(t.Context()); {
				case err == nil:
					admitted[configuration].Add(1)
				case !errors.Is(err, ratelimit.ErrLimited):
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for i := range admitted {
		// A call that one of three limits refuses takes nothing of the others, so that they are used up together.
		if n := admitted[i].Load(); n != count {
			t.Errorf("configuration %d admitted %d, want %d", i, n, count)
		}
	}
}
