package limiters

import (
	"context"
	"sync"
	"testing"

	"golang.org/x/time/rate"
)

// XTime makes a golang.org/x/time/rate.Limiter, which is one bucket for all keys.
func XTime(_ testing.TB, s Setting) Limiter {
	limiter := newXTime(s.Quota)
	return Ask(func(context.Context, int) (bool, error) { return limiter.Allow(), nil })
}

// XTimeSyncMap makes a golang.org/x/time/rate.Limiter for each key, in a sync.Map.
func XTimeSyncMap(_ testing.TB, s Setting) Limiter {
	var limiters sync.Map
	return Ask(func(_ context.Context, key int) (bool, error) {
		name := s.Keys.String(key)
		limiter, ok := limiters.Load(name)
		if !ok {
			limiter, _ = limiters.LoadOrStore(name, newXTime(s.Quota))
		}
		return limiter.(*rate.Limiter).Allow(), nil
	})
}

// XTimeMutexMap makes a golang.org/x/time/rate.Limiter for each key, in a map with a mutex.
func XTimeMutexMap(_ testing.TB, s Setting) Limiter {
	var mu sync.Mutex
	limiters := map[string]*rate.Limiter{}
	return Ask(func(_ context.Context, key int) (bool, error) {
		name := s.Keys.String(key)
		mu.Lock()
		limiter, ok := limiters[name]
		if !ok {
			limiter = newXTime(s.Quota)
			limiters[name] = limiter
		}
		mu.Unlock()
		return limiter.Allow(), nil
	})
}

func newXTime(q Quota) *rate.Limiter {
	return rate.NewLimiter(rate.Limit(float64(q.Count)/q.Period.Seconds()), int(q.Burst))
}
