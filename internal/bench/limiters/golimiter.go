package limiters

import (
	"context"
	"testing"

	"github.com/sethvargo/go-limiter/memorystore"
)

// GoLimiter makes a memorystore of github.com/sethvargo/go-limiter, which forgets a key when its window is over.
func GoLimiter(t testing.TB, s Setting) Limiter {
	store, err := memorystore.New(&memorystore.Config{
		Tokens:        uint64(s.Quota.Burst),
		Interval:      s.Quota.Period,
		SweepInterval: s.Quota.Period,
		SweepMinTTL:   s.Quota.Period,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close(context.Background()) })
	return Ask(func(ctx context.Context, key int) (bool, error) {
		_, _, _, ok, err := store.Take(ctx, s.Keys.String(key))
		return ok, err
	})
}
