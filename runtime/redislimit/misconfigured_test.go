package redislimit_test

import (
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// A Store that cannot work says so at each call, and at its check, and does not panic.
func TestMisconfiguredStore(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	defer func() { _ = client.Close() }()
	tests := []struct {
		name, prefix, says string
		store              *redislimit.Store
	}{
		{"no client", "rl:", "no client", redislimit.New(nil)},
		{"a client that is nil", "rl:", "no client", redislimit.New((*redis.Client)(nil))},
		{"a client of a Cluster that is nil", "rl:", "no client", redislimit.New((*redis.ClusterClient)(nil))},
		{"a Ring that is nil", "rl:", "no client", redislimit.New((*redis.Ring)(nil))},
		{"an option that is nil", "x:", "option 2 is nil", redislimit.New(client, redislimit.Prefix("x:"), nil)},
		{"zero", "", "no client", &redislimit.Store{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			one, results, store := tb("a", 1), make([]ratelimit.Result, 1), test.store
			for do, err := range map[string]error{
				"take":   store.Take(t.Context(), one, results),
				"peek":   store.Peek(t.Context(), one, results),
				"refund": store.Refund(t.Context(), one),
				"renew":  store.Renew(t.Context(), cc("a", 1, "holder"), make([]bool, 1)),
				"reset":  store.Reset(t.Context(), one),
				"check":  store.Check(t.Context()),
			} {
				key := map[string]string{"renew": "{a}:cc:1m", "check": "*"}[do]
				if key == "" {
					key = "{a}:tb:1m"
				}
				if want := `redislimit: ` + do + ` "` + test.prefix + key + `": misconfigured: ` + test.says; err == nil || err.Error() != want {
					t.Errorf("error %v: want %s", err, want)
				}
				if !errors.Is(err, ratelimit.ErrMisconfigured) || kindOf(err) != redislimit.KindMisconfigured {
					t.Errorf("error %#v: want one of kind misconfigured", err)
				}
			}
			limiter, err := ratelimit.New(store) // by default it decides in memory when Redis cannot
			if err != nil {
				t.Fatal(err)
			}
			if _, err := limiter.Allow(t.Context(), "a", tb("a", 1)[0].Limit); !errors.Is(err, ratelimit.ErrMisconfigured) {
				t.Errorf("error %v: want one of a mistake", err)
			}
		})
	}
}
