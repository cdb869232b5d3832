package main

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// noWalk is how much longer a new key may take beside a thousand times as many: far below a thousand, which it takes to walk all
// keys, and above what the caches make of it on a busy machine.
const noWalk = 20

// newKeysRow is P04, of callers whom nobody has seen before, who pay for what is done to have others leave.
func newKeysRow(most int) row {
	sizes := sizesUpTo(most, 1_000_000, 100_000, 1000)
	g := atMost(noWalk, nanoseconds, "")
	r := growthRow("growth-memory-new-keys", `one goroutine asks memlimit for a new key each time, beside live ones that stay. The new one leaves
after a millisecond, or, where these are all that there is room for, drives another one out. Who walks all
keys for that takes a thousand times as long beside a thousand times as many; memory takes longer, too`, "live keys", sizes, g,
		func(name string, n int) entry { return besideLive(name, n) })
	full := growthRow("", "", "keys", sizes, g,
		func(name string, n int) entry { return besideLive("room for "+name, n, memlimit.MaxKeys(n)) })
	first, last := full.entries[0].name, full.entries[len(full.entries)-1].name
	r.entries, r.goals = append(r.entries, full.entries...), append(r.goals, atMost(noWalk, nanoseconds, last).of(first))
	return r
}

// besideLive returns an entry of how long a call for a new key takes beside n others.
func besideLive(name string, n int, opts ...memlimit.Option) entry {
	return entry{name, 10, func(ctx context.Context, t testing.TB) round {
		store := memlimit.New(opts...)
		charges, results := []ratelimit.Charge{{Name: "1s", Cost: 1}}, make([]ratelimit.Result, 1)
		call := func(kind string, i int) error {
			charges[0].Key = strconv.AppendInt(append(charges[0].Key[:0], kind...), int64(i), 10)
			if err := store.Take(ctx, charges, results); err != nil {
				return err
			}
			if !results[0].Allowed {
				return fmt.Errorf("the first call of %s was refused", charges[0].Key)
			}
			return nil
		}
		charges[0].Limit = ratelimit.Limit{Count: 5, Period: 24 * time.Hour}
		for i := range n {
			if err := call("live:", i); err != nil {
				t.Fatal(err)
			}
		}
		if len(opts) == 0 {
			charges[0].Limit.Period = 5 * time.Millisecond // a token is back after one
		}
		seen := 0
		return func(_ context.Context, turn turn) (sample, error) {
			const together = 64 // calls for a reading of the clock
			calls, before, evicted := 0, time.Now(), store.Evicted()
			for time.Since(before) < turn.time {
				for range together {
					if err := call("new:", seen+calls); err != nil {
						return nil, err
					}
					calls++
				}
			}
			took := time.Since(before)
			seen += calls
			gone := int(store.Evicted() - evicted)
			switch left := store.Len(); {
			case len(opts) == 0 && (left <= n || gone > 0):
				return nil, fmt.Errorf("%d buckets, %d evicted: want more than the %d that stay, and none", left, gone, n)
			case len(opts) > 0 && (left > n || gone < calls-n/10):
				return nil, fmt.Errorf("%d buckets, %d evicted for %d: want at most %d, and nearly one for each", left, gone, calls, n)
			}
			return sample{nanoseconds: float64(took.Nanoseconds()) / float64(calls)}, nil
		}
	}}
}
