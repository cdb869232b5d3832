package main

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/ratelimitgen/ratelimitgen/internal/bench/limiters"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

func sizeRows(most int) []row {
	million := min(1_000_000, most)
	return []row{{
		id: "memory-bytes", models: "a million keys of 20 bytes, one call each; then all expire, while calls of one caller go on", rounds: 1,
		entries: []entry{
			inHeap(oursInMemory, limiters.Memory(ratelimit.TokenBucket), million, true),
			inHeap("memlimit, leaky-bucket", limiters.Memory(ratelimit.LeakyBucket), million, true),
			inHeap(goLimiter, limiters.GoLimiter, million, true),
			inHeap("ulule", limiters.UluleMemory, million, true),
			inHeap("throttled", limiters.ThrottledMemory, million, false),
			inHeap("x/time/rate in sync.Map", limiters.XTimeSyncMap, million, false),
			inHeap(table, limiters.Table, million, false),
		},
		floor: table,
		goals: []goal{atMost(0.6, bytesPerKey, goLimiter), atMost(10, bytesLeft, "")},
	}, expiryRow(million), {
		id: "redis-bytes", models: "what one bucket takes up in Redis, by MEMORY USAGE, after ten calls, or after a thousand that a log remembers", rounds: 1,
		why: "A time in a log takes ten bytes, and the running total 2 to 5. The total less the number of its entry would take two where each " +
			"call takes one unit, and so an entry 12.1 with what the list itself takes.",
		entries: []entry{
			inRedis("redislimit, leaky-bucket", limiters.Redis(ratelimit.LeakyBucket), 10),
			inRedis("redislimit, token-bucket", limiters.Redis(ratelimit.TokenBucket), 10),
			inRedis("redislimit, fixed-window", limiters.Redis(ratelimit.FixedWindow), 10),
			inRedis("redislimit, sliding-window", limiters.Redis(ratelimit.SlidingWindow), 10),
			inRedis("redislimit, sliding-log", limiters.Redis(ratelimit.SlidingLog), 1000),
			inRedis(redisRate, limiters.RedisRate, 10),
			inRedis("ulule", limiters.UluleRedis, 10),
			inRedis("throttled", limiters.ThrottledRedis, 10),
		},
		goals: []goal{
			atMost(1, bytesPerKey, redisRate),
			atMost(104, bytesPerKey, "").of("redislimit, token-bucket"),
			atMost(12, bytesEach, "").of("redislimit, sliding-log"),
		},
	}}
}

// inHeap returns an entry of what a limiter holds of the heap. Of those that forget keys when these have expired it also
// measures what another one holds after that time and further calls.
func inHeap(name string, newLimiter limiters.Maker, n int, forgets bool) entry {
	return entry{name, 1, func(_ context.Context, t testing.TB) round {
		return func(ctx context.Context, _ turn) (sample, error) {
			setting := limiters.Setting{Keys: limiters.FreshKeys(n), Quota: limiters.Lasting}
			start := time.Now()
			held, err := growthOfHeap(func() (limiters.Limiter, error) {
				limiter := newLimiter(t, setting)
				return limiter, askEach(ctx, limiter, n)
			})
			if !forgets || err != nil {
				return sample{bytesPerKey: held / float64(n)}, err
			}
			period := max(time.Second, 5*time.Since(start)/4) // so that none expires before the last has come
			setting.Quota = limiters.Fleeting(period.Truncate(time.Millisecond))
			left, err := growthOfHeap(func() (limiters.Limiter, error) {
				limiter := newLimiter(t, setting)
				if err := askEach(ctx, limiter, n); err != nil {
					return nil, err
				}
				time.Sleep(2 * period)
				ask := limiter.Worker()
				for range n {
					if _, err := ask(ctx, 0); err != nil {
						return nil, err
					}
				}
				return limiter, nil
			})
			return sample{bytesPerKey: held / float64(n), bytesLeft: max(0, 100*left/held)}, err
		}
	}}
}

// growthOfHeap returns what a limiter holds of the heap.
func growthOfHeap(fill func() (limiters.Limiter, error)) (float64, error) {
	before := heap()
	limiter, err := fill()
	growth := heap() - before
	runtime.KeepAlive(limiter)
	return growth, err
}

// askEach asks once for each key, all of which must be allowed.
func askEach(ctx context.Context, limiter limiters.Limiter, keys int) error {
	ask := limiter.Worker()
	for key := range keys {
		allowed, err := ask(ctx, key)
		if err != nil {
			return err
		}
		if !allowed {
			return errors.New("a call was refused that fits the limit")
		}
	}
	return nil
}

// heap returns the bytes in use.
func heap() float64 {
	runtime.GC()
	runtime.GC() // what has a finalizer, or was in a pool
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// inRedis returns an entry of what one bucket takes up after some calls. The identity is an IPv4 address.
func inRedis(name string, newLimiter limiters.Maker, calls int) entry {
	return entry{name, 1, func(_ context.Context, t testing.TB) round {
		return func(ctx context.Context, _ turn) (sample, error) {
			addrs := oneServer(t)
			limiter := newLimiter(t, limiters.Setting{Keys: limiters.Key("198.51.100.7"), Quota: limiters.Lasting, Redis: addrs})
			for range calls {
				if err := askEach(ctx, limiter, 1); err != nil {
					return nil, err
				}
			}
			bytes, err := watch(t, addrs).onlyKey(ctx)
			if calls > 10 {
				return sample{bytesPerKey: bytes, bytesEach: bytes / float64(calls)}, err
			}
			return sample{bytesPerKey: bytes}, err
		}
	}}
}
