package memlimit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// benchmarkLimits admit whatever a benchmark takes.
var benchmarkLimits = []struct {
	name  string
	limit ratelimit.Limit
}{
	{"token-bucket", ratelimit.Limit{Count: 1000, Period: time.Hour, Burst: 500_000_000}},
	{"fixed-window", ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1_000_000_000, Period: time.Hour}},
	{"sliding-log", ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: 1_000_000_000, Period: time.Hour}},
	{"sliding-window", ratelimit.Limit{Algorithm: ratelimit.SlidingWindow, Count: 1_000_000_000, Period: time.Hour}},
	{"leaky-bucket", ratelimit.Limit{Algorithm: ratelimit.LeakyBucket, Count: 1000, Period: time.Hour, Burst: 500_000_000}},
	{"concurrency", ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 1, Period: time.Hour}},
}

// BenchmarkTake models a decision whose key is at hand, on one hot key and on many in random order. All are allowed. Of
// concurrency it is a holder that takes again what it has.
func BenchmarkTake(b *testing.B) {
	for _, l := range benchmarkLimits {
		for _, keys := range []int{1, 100_000} {
			b.Run(l.name+"/keys="+strconv.Itoa(keys), func(b *testing.B) { benchmarkTake(b, l.limit, keys) })
		}
	}
	b.Run("token-bucket/max/keys=100000", func(b *testing.B) { benchmarkTake(b, benchmarkLimits[0].limit, 100_000, MaxKeys(200_000)) })
}

func benchmarkTake(b *testing.B, limit ratelimit.Limit, keys int, opts ...Option) {
	store := New(opts...)
	charges := make([][]ratelimit.Charge, keys)
	for i := range charges {
		charges[i] = []ratelimit.Charge{{Key: []byte("user:" + strconv.Itoa(i)), Name: "1s", Limit: limit, Cost: 1}}
		if limit.Algorithm == ratelimit.Concurrency {
			charges[i][0].Holder = "holder"
		}
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

// BenchmarkClock is what a decision spends on finding out the time.
func BenchmarkClock(b *testing.B) {
	store := New()
	before, now := store.now(), int64(0)
	for b.Loop() {
		now = store.now()
	}
	if now < before {
		b.Fatalf("%d has become %d", before, now)
	}
}

// P04: BenchmarkNewKey models callers that nobody has seen before, while many others are known: each has a bucket of its
// own for a millisecond. At the most that there is room for, they stay, and another must go for each.
func BenchmarkNewKey(b *testing.B) {
	for _, live := range []int{1000, 100_000, 1_000_000} {
		b.Run("live="+strconv.Itoa(live), func(b *testing.B) {
			store := benchmarkNewKey(b, live, 5*time.Millisecond) // a token is back after one
			if n := store.Len(); n <= live || store.Evicted() > 0 {
				b.Fatalf("%d buckets, %d evicted: want all %d that were there, and none", n, store.Evicted(), live)
			}
		})
		b.Run("max="+strconv.Itoa(live), func(b *testing.B) {
			store := benchmarkNewKey(b, live, time.Hour, MaxKeys(live))
			if n, evicted := store.Len(), int(store.Evicted()); n > live || evicted < b.N-live/10 {
				b.Fatalf("%d buckets, %d evicted for %d: want at most %d, and nearly one for each", n, evicted, b.N, live)
			}
		})
	}
}

func benchmarkNewKey(b *testing.B, live int, period time.Duration, opts ...Option) *Store {
	store := New(opts...)
	ctx, results := context.Background(), make([]ratelimit.Result, 1)
	charges := []ratelimit.Charge{{Name: "1s", Cost: 1, Limit: ratelimit.Limit{Count: 5, Period: time.Hour}}}
	call := func(kind string, i int) {
		charges[0].Key = strconv.AppendInt(append(charges[0].Key[:0], kind...), int64(i), 10)
		if err := store.Take(ctx, charges, results); err != nil || !results[0].Allowed {
			b.Fatal(err, results[0])
		}
	}
	for i := range live {
		call("live:", i)
	}
	charges[0].Limit.Period = period
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		call("new:", i)
	}
	b.StopTimer()
	return store
}

// P01: BenchmarkWhileSweeping models busy callers while a million buckets of others leave; an operation is a thousand calls of
// each. It reports the latencies that one call in a thousand and one in ten thousand exceed, and the longest, which on few cores
// is that of goroutines taking turns. The row memory-expiry of make bench tells these apart.
func BenchmarkWhileSweeping(b *testing.B) {
	const goroutines, others, together = 8, 1_000_000, 1000
	for _, expired := range []bool{false, true} {
		b.Run("expired="+strconv.FormatBool(expired), func(b *testing.B) {
			ctx, period := context.Background(), time.Hour
			if expired {
				period = 2 * time.Second
			}
			store := crowded(b, others, period)
			for expired && store.Len() < others { // as the machine was too busy for all of them to come in that time
				period *= 2
				store = crowded(b, others, period)
			}
			if expired {
				time.Sleep(period)
			}
			latencies, calls := make([][]time.Duration, goroutines), 0
			for b.Loop() {
				var wg sync.WaitGroup
				for g := range goroutines {
					wg.Go(func() {
						charges := []ratelimit.Charge{{Key: []byte("busy:" + strconv.Itoa(g)), Name: "1s", Limit: windowOf(1_000_000_000, time.Hour), Cost: 1}}
						results := make([]ratelimit.Result, 1)
						for range together {
							before := time.Now()
							if err := store.Take(ctx, charges, results); err != nil || !results[0].Allowed {
								b.Error(err, results[0])
							}
							latencies[g] = append(latencies[g], time.Since(before))
						}
					})
				}
				wg.Wait()
				calls += goroutines * together
			}
			all := slices.Sorted(slices.Values(slices.Concat(latencies...)))
			b.ReportMetric(float64(all[len(all)*999/1000]), "p99.9-ns")
			b.ReportMetric(float64(all[len(all)*9999/10000]), "p99.99-ns")
			b.ReportMetric(float64(all[len(all)-1]), "max-ns")
			if n := store.Len(); expired && n > max(0, others-calls)+others/100 {
				b.Fatalf("%d buckets of others are left after %d calls", n, calls)
			}
		})
	}
}

func windowOf(count int64, period time.Duration) ratelimit.Limit {
	return ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: count, Period: period}
}

// crowded returns a store that n others have called once.
func crowded(b *testing.B, n int, period time.Duration) *Store {
	store, results := New(), make([]ratelimit.Result, 1)
	for i := range n {
		charges := []ratelimit.Charge{{Key: []byte("other:" + strconv.Itoa(i)), Name: "1s", Limit: windowOf(1, period), Cost: 1}}
		if err := store.Take(context.Background(), charges, results); err != nil || !results[0].Allowed {
			b.Fatal(err, results[0])
		}
	}
	return store
}

// BenchmarkMemory measures what a bucket takes whose key has 20 bytes, with its share of all that the store keeps: with
// one unit used, and of a log and a concurrency limit with more.
func BenchmarkMemory(b *testing.B) {
	for _, l := range benchmarkLimits {
		b.Run(l.name, func(b *testing.B) { benchmarkMemory(b, l.limit, 200_000, 1) })
	}
	b.Run("token-bucket/max", func(b *testing.B) { benchmarkMemory(b, benchmarkLimits[0].limit, 200_000, 1, MaxKeys(250_000)) })
	for _, calls := range []int{100, 1000} {
		log := ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: 1000, Period: time.Hour}
		b.Run(fmt.Sprintf("sliding-log/calls=%d", calls), func(b *testing.B) { benchmarkMemory(b, log, 200_000/calls, calls) })
		slots := ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 1000, Period: time.Hour}
		b.Run(fmt.Sprintf("concurrency/holders=%d", calls), func(b *testing.B) { benchmarkMemory(b, slots, 200_000/calls, calls) })
	}
}

func benchmarkMemory(b *testing.B, limit ratelimit.Limit, keys, calls int, opts ...Option) {
	var bytes int64
	for b.Loop() {
		before := heapSize()
		store, results := New(opts...), make([]ratelimit.Result, 1)
		for i := range calls {
			start := time.Now()
			for k := range keys {
				charges := []ratelimit.Charge{{Key: fmt.Appendf(nil, "user:%015d", k), Name: "1h", Limit: limit, Cost: 1, Holder: fmt.Sprintf("%026d", i)}}
				if err := store.Take(b.Context(), charges, results); err != nil || !results[0].Allowed {
					b.Fatal(err, results[0])
				}
			}
			for time.Since(start) < 2*time.Microsecond { // no two calls of a key at the same time
				runtime.Gosched()
			}
		}
		bytes = heapSize() - before
		if n := store.Len(); n != keys {
			b.Fatalf("%d buckets: want %d", n, keys)
		}
	}
	b.ReportMetric(float64(bytes)/float64(keys), "B/key")
}
