package redislimit_test

import (
	"crypto/rand"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// BenchmarkTake models the decisions of one process that calls for 10,000 clients, all of them allowed, on a server on
// loopback, which shares the machine's cores with the client.
func BenchmarkTake(b *testing.B) {
	const keys = 10_000
	limits := map[string]ratelimit.Limit{
		"token-bucket":   {Count: 1000, Period: time.Hour, Burst: 1_000_000},
		"fixed-window":   {Algorithm: ratelimit.FixedWindow, Count: 1_000_000, Period: time.Hour},
		"sliding-window": {Algorithm: ratelimit.SlidingWindow, Count: 1_000_000, Period: time.Hour},
		"leaky-bucket":   {Algorithm: ratelimit.LeakyBucket, Count: 1000, Period: time.Hour, Burst: 1_000_000},
		"sliding-log":    {Algorithm: ratelimit.SlidingLog, Count: 1_000_000, Period: time.Hour},
		"concurrency":    {Algorithm: ratelimit.Concurrency, Count: 1_000_000, Period: time.Hour},
	}
	for name, limit := range limits {
		for _, callers := range []int{1, 64} {
			b.Run(name+"/callers="+strconv.Itoa(callers), func(b *testing.B) {
				client := redistest.Client(b)
				store := redislimit.NewPatient(client)
				var next, allowed atomic.Int64
				b.ReportAllocs()
				b.SetParallelism(max(1, callers/runtime.GOMAXPROCS(0)))
				run := func(more func() bool) {
					charges, results := make([]ratelimit.Charge, 1), make([]ratelimit.Result, 1)
					for more() {
						n := next.Add(1)
						key := strconv.AppendInt(nil, n%keys, 10)
						charges[0] = ratelimit.Charge{Key: key, Name: "1h", Limit: limit, Cost: 1}
						if limit.Algorithm == ratelimit.Concurrency {
							charges[0].Holder = strconv.FormatInt(n, 10)
						}
						if err := store.Take(b.Context(), charges, results); err != nil {
							b.Error(err)
							return
						}
						if results[0].Allowed {
							allowed.Add(1)
						}
					}
				}
				if callers == 1 {
					run(b.Loop)
				} else {
					b.RunParallel(func(pb *testing.PB) { run(pb.Next) })
				}
				b.StopTimer()
				if n := allowed.Load(); n != int64(b.N) {
					b.Fatalf("%d of %d calls were allowed", n, b.N)
				}
				if n := client.DBSize(b.Context()).Val(); b.N >= keys && n != keys {
					b.Fatalf("the server holds %d keys: want %d", n, keys)
				}
			})
		}
	}
}

// BenchmarkMemory reports what a bucket takes up in Redis, as MEMORY USAGE says, with a key of 23 bytes.
func BenchmarkMemory(b *testing.B) {
	tests := []struct {
		name  string
		limit ratelimit.Limit
		calls int
	}{
		{"token-bucket", ratelimit.Limit{Count: 1000, Period: time.Minute}, 10},
		{"fixed-window", ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1000, Period: time.Minute}, 10},
		{"sliding-window", ratelimit.Limit{Algorithm: ratelimit.SlidingWindow, Count: 1000, Period: time.Minute}, 10},
		{"leaky-bucket", ratelimit.Limit{Algorithm: ratelimit.LeakyBucket, Count: 1000, Period: time.Minute}, 10},
		{"leaky-bucket/thirds", ratelimit.Limit{Algorithm: ratelimit.LeakyBucket, Count: 900, Period: time.Minute}, 10},
		{"sliding-log/calls=1", ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: 1000, Period: time.Minute}, 1},
		{"sliding-log/calls=100", ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: 1000, Period: time.Minute}, 100},
		{"sliding-log/calls=1000", ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: 1000, Period: time.Minute}, 1000},
		{"concurrency/holders=1", ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 1000, Period: time.Minute}, 1},
		{"concurrency/holders=100", ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 1000, Period: time.Minute}, 100},
		{"concurrency/holders=1000", ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 1000, Period: time.Minute}, 1000},
	}
	client := redistest.Client(b)
	for _, test := range tests {
		b.Run(test.name, func(b *testing.B) {
			store := redislimit.NewPatient(client)
			c := ratelimit.Charge{Key: []byte("198.51.100.7"), Name: "1m", Limit: test.limit, Cost: 1}
			if err := store.Reset(b.Context(), []ratelimit.Charge{c}); err != nil {
				b.Fatal(err)
			}
			results := make([]ratelimit.Result, 1)
			for range test.calls {
				c.Holder = rand.Text()
				if err := store.Take(b.Context(), []ratelimit.Charge{c}, results); err != nil || !results[0].Allowed {
					b.Fatal(err, results)
				}
			}
			if n := len(keyOf(c)); n != 23 {
				b.Fatalf("a key of %d bytes", n)
			}
			var bytes int64
			for b.Loop() {
				n, err := client.MemoryUsage(b.Context(), keyOf(c), 0).Result()
				if err != nil {
					b.Fatal(err)
				}
				bytes = n
			}
			b.ReportMetric(0, "ns/op") // which is that of the question
			b.ReportMetric(float64(bytes), "bytes/key")
		})
	}
}
