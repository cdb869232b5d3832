package limiters

import (
	"context"
	"testing"

	"github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/store/memory"
	"github.com/ulule/limiter/v3/drivers/store/redis"
)

// UluleMemory makes a limiter of github.com/ulule/limiter in memory, which forgets a key when its window is over.
func UluleMemory(_ testing.TB, s Setting) Limiter {
	return newUlule(s, memory.NewStoreWithOptions(limiter.StoreOptions{Prefix: limiter.DefaultPrefix, CleanUpInterval: s.Quota.Period}))
}

// UluleRedis makes a limiter of github.com/ulule/limiter through Redis.
func UluleRedis(t testing.TB, s Setting) Limiter {
	store, err := redis.NewStore(newClient(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return newUlule(s, store)
}

func newUlule(s Setting, store limiter.Store) Limiter {
	l := limiter.New(store, limiter.Rate{Period: s.Quota.Period, Limit: s.Quota.Burst})
	return Ask(func(ctx context.Context, key int) (bool, error) {
		result, err := l.Get(ctx, s.Keys.String(key))
		return !result.Reached, err
	})
}
