package limiters

import (
	"context"
	"testing"
	"time"

	"github.com/go-chi/httprate"
)

// HTTPRate asks the counters of github.com/go-chi/httprate as its middleware does, but without HTTP and its mutex, so that
// concurrent calls may exceed the limit.
func HTTPRate(_ testing.TB, s Setting) Limiter {
	limiter := httprate.NewRateLimiter(int(s.Quota.Burst), s.Quota.Period)
	counter := limiter.Counter()
	return Ask(func(_ context.Context, key int) (bool, error) {
		name, window := s.Keys.String(key), time.Now().UTC().Truncate(s.Quota.Period)
		ok, _, err := limiter.Status(name)
		if !ok || err != nil {
			return false, err
		}
		return true, counter.Increment(name, window)
	})
}
