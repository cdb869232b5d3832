package redislimit_test

import (
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
	}
	for name, limit := range limits {
		for _, callers := range []int{1, 64} {
			b.Run(name+"/callers="+strconv.Itoa(callers), func(b *testing.B) {
				client := redistest.Client(b)
				store := redislimit.New(client)
				var next, allowed atomic.Int64
				b.ReportAllocs()
				b.SetParallelism(max(1, callers/runtime.GOMAXPROCS(0)))
				run := func(more func() bool) {
					charges, results := make([]ratelimit.Charge, 1), make([]ratelimit.Result, 1)
					for more() {
						key := strconv.AppendInt(nil, next.Add(1)%keys, 10)
						charges[0] = ratelimit.Charge{Key: key, Name: "1h", Limit: limit, Cost: 1}
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
