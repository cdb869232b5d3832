package memlimit

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// BenchmarkMemory reports the bytes that a bucket takes, with its name of up to 14 bytes and its share of everything, when
// there are 100,000 of them, or fewer of the larger ones. The calls on a bucket are a microsecond apart or more, those of a concurrency limit under
// way.
func BenchmarkMemory(b *testing.B) {
	const keys = 100_000
	tests := []struct {
		limit ratelimit.Limit
		calls int
	}{
		{ratelimit.Limit{Count: 1000, Period: time.Hour}, 10},
		{ratelimit.Limit{Algorithm: ratelimit.LeakyBucket, Count: 1000, Period: time.Hour}, 10},
		{ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1000, Period: time.Hour}, 10},
		{ratelimit.Limit{Algorithm: ratelimit.SlidingWindow, Count: 1000, Period: time.Hour}, 10},
		{ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: 1000, Period: time.Hour}, 1},
		{ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: 1000, Period: time.Hour}, 100},
		{ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: 1000, Period: time.Hour}, 1000},
		{ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 1000, Period: time.Hour}, 1},
		{ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 1000, Period: time.Hour}, 100},
	}
	for _, test := range tests {
		keys := min(keys, 2_000_000/test.calls)
		b.Run(fmt.Sprintf("%v/calls=%d", test.limit.Algorithm, test.calls), func(b *testing.B) {
			for b.Loop() {
				before := inUse()
				store := New()
				fill(b, store, test.limit, keys, test.calls)
				b.ReportMetric(float64(inUse()-before)/float64(keys), "bytes/key")
				if n := store.Len(); n != keys {
					b.Fatalf("%d buckets: want %d", n, keys)
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// fill makes as many calls on each of so many buckets.
func fill(b *testing.B, store *Store, limit ratelimit.Limit, keys, calls int) {
	b.Helper()
	c := ratelimit.Charge{Name: "1h", Limit: limit, Cost: 1}
	results := make([]ratelimit.Result, 1)
	for i := range calls {
		for k := range keys {
			if limit.Algorithm == ratelimit.Concurrency {
				c.Holder = fmt.Sprintf("%026d", i*keys+k) // as long as that of a call
			}
			c.Key = strconv.AppendInt(append(c.Key[:0], "user:"...), int64(k), 10)
			if err := store.Take(context.Background(), []ratelimit.Charge{c}, results); err != nil || !results[0].Allowed {
				b.Fatalf("call %d: %+v, error %v", i, results[0], err)
			}
		}
	}
}

// inUse returns how many bytes of the heap are.
func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
