package redislimit_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// Processes that take units in advance admit as many calls as the limit says, and leave in Redis what they have not used.
func TestPrefetch(t *testing.T) {
	servers := map[string]func(t *testing.T) *redis.Client{
		"miniredis": func(t *testing.T) *redis.Client {
			client := redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr()})
			t.Cleanup(func() { _ = client.Close() })
			return client
		},
		"redis": func(t *testing.T) *redis.Client { return redistest.Client(t) },
	}
	if raced { // it then takes longer than giving back may
		delete(servers, "miniredis")
	}
	for name, client := range servers {
		for _, limit := range []ratelimit.Limit{
			{Count: 1000, Period: 1000 * time.Hour},
			{Algorithm: ratelimit.LeakyBucket, Count: 1000, Period: 1000 * time.Hour},
			{Algorithm: ratelimit.FixedWindow, Count: 1000, Period: time.Hour},
		} {
			t.Run(fmt.Sprintf("%s of %v", name, limit.Algorithm), func(t *testing.T) {
				store := redislimit.NewPatient(client(t), redislimit.Prefix(t.Name()+":"))
				rule := ratelimit.Rule{Key: "k", Name: "limit", Limit: limit, Prefetch: 50}
				var admitted atomic.Int64
				var calls sync.WaitGroup
				for range 4 { // processes
					limiter, err := ratelimit.New(store)
					if err != nil {
						t.Fatal(err)
					}
					guard := limiter.Guard("m", rule)
					var mine sync.WaitGroup
					for range 8 {
						mine.Go(func() {
							for range 50 { // 1600 calls in all
								switch err := guard.Allow(t.Context()); {
								case err == nil:
									admitted.Add(1)
								case !errors.Is(err, ratelimit.ErrLimited):
									t.Error(err)
								}
							}
						})
					}
					calls.Go(func() {
						mine.Wait()
						if err := limiter.Close(t.Context()); err != nil {
							t.Error(err)
						}
					})
				}
				calls.Wait()
				results := make([]ratelimit.Result, 1)
				charges := []ratelimit.Charge{{Key: []byte("k"), Name: "limit", Limit: limit}}
				if err := store.Peek(t.Context(), charges, results); err != nil {
					t.Fatal(err)
				}
				n, left := admitted.Load(), results[0].Remaining
				if n > 1000 || n < 1000-3*49 || n+left != 1000 {
					t.Errorf("%d calls were admitted, and %d are left: want 1000 together, and at most 147 refused too early", n, left)
				}
			})
		}
	}
}
