package redislimit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// BenchmarkSize reports the bytes that a bucket takes on a server, by MEMORY USAGE, with its key of 23 bytes. Each call on
// it is at another time, those of a concurrency limit are under way.
func BenchmarkSize(b *testing.B) {
	const hour = time.Hour
	tests := []struct {
		limit ratelimit.Limit
		calls int
	}{
		{ratelimit.Limit{Count: 1000, Period: hour}, 10},
		{ratelimit.Limit{Algorithm: ratelimit.LeakyBucket, Count: 1000, Period: hour}, 10},
		{ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1000, Period: hour}, 10},
		{ratelimit.Limit{Algorithm: ratelimit.SlidingWindow, Count: 1000, Period: hour}, 10},
		{ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: 1000, Period: hour}, 1},
		{ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: 1000, Period: hour}, 100},
		{ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: 1000, Period: hour}, 1000},
		{ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 1000, Period: hour}, 1},
		{ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 1000, Period: hour}, 100},
		{ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 1000, Period: hour}, 1000},
	}
	client := redistest.Client(b)
	store := redislimit.New(client)
	for _, test := range tests {
		b.Run(fmt.Sprintf("%v/calls=%d", test.limit.Algorithm, test.calls), func(b *testing.B) {
			c := ratelimit.Charge{Key: []byte("user:1234567"), Name: "1h", Limit: test.limit, Cost: 1}
			results := make([]ratelimit.Result, 1)
			for b.Loop() {
				client.FlushAll(b.Context())
				for i := range test.calls {
					c.Holder = fmt.Sprintf("%026d", i) // as long as that of a call
					if err := store.Take(b.Context(), []ratelimit.Charge{c}, results); err != nil || !results[0].Allowed {
						b.Fatalf("call %d: %+v, error %v", i, results[0], err)
					}
				}
				bytes, err := client.MemoryUsage(b.Context(), keyOf(c), 0).Result()
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(bytes), "B/bucket")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
