package limiters

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// patience is for how long a decision may wait for Redis, which is as long as go-redis waits by default: what a busy
// machine delays is measured, and no failure.
const patience = 3 * time.Second

// Memory makes a memlimit.Store that is asked for one limit.
func Memory(algorithm ratelimit.Algorithm) Maker {
	return func(_ testing.TB, s Setting) Limiter {
		buckets := memlimit.New()
		return &memStore{store{buckets, s.Keys, limitsOf(algorithm, s.Quota, 1), 1}, buckets}
	}
}

// Redis makes a redislimit.Store that is asked for one limit.
func Redis(algorithm ratelimit.Algorithm) Maker {
	return RedisOf(algorithm, 1, 1)
}

// RedisOf makes a redislimit.Store. A process has a number of limits, of which each call is for some.
func RedisOf(algorithm ratelimit.Algorithm, limits, perCall int) Maker {
	return func(t testing.TB, s Setting) Limiter {
		buckets := redislimit.New(newClient(t, s), redislimit.Timeout(patience))
		return &store{buckets, s.Keys, limitsOf(algorithm, s.Quota, limits), perCall}
	}
}

// newClient returns a client of the setting's servers by the defaults of go-redis.
func newClient(t testing.TB, s Setting) redis.UniversalClient {
	client := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: s.Redis})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// store is a Store of this module.
type store struct {
	buckets ratelimit.Store
	keys    *Keys
	limits  []limit
	perCall int
}

type limit struct {
	name string
	ratelimit.Limit
}

// limitsOf returns n limits of different names that admit what q does.
func limitsOf(algorithm ratelimit.Algorithm, q Quota, n int) []limit {
	limits := make([]limit, n)
	for i := range limits {
		limits[i] = limit{"1h", ratelimit.Limit{Algorithm: algorithm, Count: q.Count, Period: q.Period, Burst: q.Burst}}
		if i > 0 {
			limits[i].name += "-" + strconv.Itoa(i)
		}
		if algorithm != ratelimit.TokenBucket && algorithm != ratelimit.LeakyBucket {
			limits[i].Count, limits[i].Burst = q.Burst, 0
		}
	}
	return limits
}

// Worker implements [Limiter].
func (s *store) Worker() Ask {
	charges, results := make([]ratelimit.Charge, s.perCall), make([]ratelimit.Result, s.perCall)
	return func(ctx context.Context, key int) (bool, error) {
		for i := range charges {
			l := &s.limits[(key+i)%len(s.limits)]
			charges[i] = ratelimit.Charge{Key: s.keys.Bytes(key), Name: l.name, Limit: l.Limit, Cost: 1}
		}
		if err := s.buckets.Take(ctx, charges, results); err != nil {
			return false, err
		}
		for i := range results {
			if !results[i].Allowed {
				return false, nil
			}
		}
		return true, nil
	}
}

// Used implements [Counter].
func (s *store) Used(ctx context.Context) (int64, error) {
	l := &s.limits[0]
	charges := []ratelimit.Charge{{Key: s.keys.Bytes(0), Name: l.name, Limit: l.Limit}}
	results := make([]ratelimit.Result, 1)
	err := s.buckets.Peek(ctx, charges, results)
	return results[0].Limit - results[0].Remaining, err
}

// memStore is a store in memory.
type memStore struct {
	store
	held *memlimit.Store
}

// Held implements [Holder].
func (m *memStore) Held() int { return m.held.Len() }
