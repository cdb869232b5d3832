package limiters

import (
	"context"
	"testing"

	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/goredisstore.v9"
	"github.com/throttled/throttled/v2/store/memstore"
)

// ThrottledMemory makes a limiter of github.com/throttled/throttled in memory, which forgets nothing.
func ThrottledMemory(t testing.TB, s Setting) Limiter {
	store, err := memstore.NewCtx(0)
	if err != nil {
		t.Fatal(err)
	}
	return newThrottled(t, s, store)
}

// ThrottledRedis makes a limiter of github.com/throttled/throttled through Redis. It reads and then sets a key if nobody else
// has, for which it gives up after ten attempts by default.
func ThrottledRedis(t testing.TB, s Setting) Limiter {
	store, err := goredisstore.NewCtx(newClient(t, s), "throttled:")
	if err != nil {
		t.Fatal(err)
	}
	return newThrottled(t, s, store)
}

func newThrottled(t testing.TB, s Setting, store throttled.GCRAStoreCtx) Limiter {
	limiter, err := throttled.NewGCRARateLimiterCtx(store, throttled.RateQuota{
		MaxRate:  throttled.PerDuration(int(s.Quota.Count), s.Quota.Period),
		MaxBurst: int(s.Quota.Burst) - 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	return Ask(func(ctx context.Context, key int) (bool, error) {
		limited, _, err := limiter.RateLimitCtx(ctx, s.Keys.String(key), 1)
		return !limited, err
	})
}
