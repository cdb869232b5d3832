package memlimit

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// BenchmarkTake models a decision whose key is at hand, on one hot key and on many in random order. All are allowed.
func BenchmarkTake(b *testing.B) {
	limits := []struct {
		name  string
		limit ratelimit.Limit
	}{
		{"token-bucket", ratelimit.Limit{Count: 1000, Period: time.Hour, Burst: 500_000_000}},
		{"fixed-window", ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1_000_000_000, Period: time.Hour}},
		{"sliding-window", ratelimit.Limit{Algorithm: ratelimit.SlidingWindow, Count: 1_000_000_000, Period: time.Hour}},
		{"leaky-bucket", ratelimit.Limit{Algorithm: ratelimit.LeakyBucket, Count: 1000, Period: time.Hour, Burst: 500_000_000}},
	}
	for _, l := range limits {
		for _, keys := range []int{1, 100_000} {
			b.Run(l.name+"/keys="+strconv.Itoa(keys), func(b *testing.B) { benchmarkTake(b, l.limit, keys) })
		}
	}
}

func benchmarkTake(b *testing.B, limit ratelimit.Limit, keys int) {
	store := New()
	charges := make([][]ratelimit.Charge, keys)
	for i := range charges {
		charges[i] = []ratelimit.Charge{{Key: []byte("user:" + strconv.Itoa(i)), Name: "1s", Limit: limit, Cost: 1}}
	}
	order := make([]int, 1<<16)
	for i := range order {
		order[i] = rand.IntN(keys)
	}
	ctx, results := context.Background(), make([]ratelimit.Result, 1)
	allowed := 0
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := store.Take(ctx, charges[order[i%len(order)]], results); err != nil {
			b.Fatal(err)
		}
		if results[0].Allowed {
			allowed++
		}
	}
	b.StopTimer()
	if allowed != b.N {
		b.Fatalf("%d of %d calls were allowed", allowed, b.N)
	}
	if n := store.Len(); n > keys || n < min(keys, b.N)/3 {
		b.Fatalf("%d buckets: want those of the keys that were drawn from %d", n, keys)
	}
}
