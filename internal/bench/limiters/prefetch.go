package limiters

import (
	"context"
	"testing"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// Prefetch makes what a decorator asks that takes so many units from Redis in advance. It has one bucket for all keys.
func Prefetch(units int64) Maker {
	return func(t testing.TB, s Setting) Limiter {
		limiter, err := ratelimit.New(redislimit.New(newClient(t, s), redislimit.Timeout(patience)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			if err := limiter.Close(ctx); err != nil {
				t.Errorf("giving back what was taken in advance: %v", err)
			}
		})
		guard := limiter.Guard("service.Service.Hot", ratelimit.Rule{
			Key:      "hot",
			Limit:    ratelimit.Limit{Count: s.Quota.Count, Period: s.Quota.Period, Burst: s.Quota.Burst},
			Prefetch: units,
		})
		return Ask(func(ctx context.Context, _ int) (bool, error) { return verdict(guard.Allow(ctx)) })
	}
}
