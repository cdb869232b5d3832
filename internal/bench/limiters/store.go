package limiters

import (
	"context"
	"slices"
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
		return redisOf(newClient(t, s), s, limitsOf(algorithm, s.Quota, limits), perCall)
	}
}

// RedisEndsWaits makes a redislimit.Store whose client ends its waits with the context.
func RedisEndsWaits(t testing.TB, s Setting) Limiter {
	client := newClientBy(t, &redis.UniversalOptions{Addrs: s.Redis, ContextTimeoutEnabled: true})
	return redisOf(client, s, limitsOf(ratelimit.TokenBucket, s.Quota, 1), 1)
}

func redisOf(client redis.UniversalClient, s Setting, limits []ratelimit.Charge, perCall int) Limiter {
	return &store{redislimit.New(client, redislimit.Timeout(patience)), s.Keys, limits, perCall}
}

// newClient returns a client of the setting's servers by the defaults of go-redis.
func newClient(t testing.TB, s Setting) redis.UniversalClient {
	return newClientBy(t, &redis.UniversalOptions{Addrs: s.Redis})
}

func newClientBy(t testing.TB, options *redis.UniversalOptions) redis.UniversalClient {
	client := redis.NewUniversalClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// store is a Store of this module.
type store struct {
	buckets ratelimit.Store
	keys    *Keys
	limits  []ratelimit.Charge // without a key
	perCall int
}

// limitsOf returns charges by n limits that admit what q does.
func limitsOf(algorithm ratelimit.Algorithm, q Quota, n int) []ratelimit.Charge {
	limit := ratelimit.Limit{Algorithm: algorithm, Count: q.Count, Period: q.Period, Burst: q.Burst}
	if algorithm != ratelimit.TokenBucket && algorithm != ratelimit.LeakyBucket {
		limit.Count, limit.Burst = q.Burst, 0
	}
	limits := make([]ratelimit.Charge, n)
	for i := range limits {
		limits[i] = ratelimit.Charge{Name: "l" + strconv.Itoa(i), Limit: limit, Cost: 1}
	}
	return limits
}

// Worker implements [Limiter].
func (s *store) Worker() Ask {
	charges, results := slices.Clone(s.limits[:s.perCall]), make([]ratelimit.Result, s.perCall)
	buffer, varies := make([]byte, keySize), len(s.limits) > s.perCall
	return func(ctx context.Context, key int) (bool, error) {
		for i := range charges {
			if varies {
				charges[i] = s.limits[(key+i)%len(s.limits)]
			}
			charges[i].Key = s.keys.Bytes(buffer, key)
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
	charges, results := slices.Clone(s.limits[:1]), make([]ratelimit.Result, 1)
	charges[0].Key, charges[0].Cost = s.keys.Bytes(nil, 0), 0
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
