package limiters

import (
	"context"
	"testing"

	"github.com/go-redis/redis_rate/v10"
)

// RedisRate makes a limiter of github.com/go-redis/redis_rate.
func RedisRate(t testing.TB, s Setting) Limiter {
	limiter := redis_rate.NewLimiter(newClient(t, s))
	limit := redis_rate.Limit{Rate: int(s.Quota.Count), Period: s.Quota.Period, Burst: int(s.Quota.Burst)}
	return Ask(func(ctx context.Context, key int) (bool, error) {
		result, err := limiter.Allow(ctx, s.Keys.String(key), limit)
		if err != nil {
			return false, err
		}
		return result.Allowed > 0, nil
	})
}
