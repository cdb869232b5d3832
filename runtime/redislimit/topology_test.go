package redislimit_test

import (
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/ratelimittest"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// everyAlgorithm calls every method for limits of every algorithm, on a few keys.
func everyAlgorithm(t *testing.T, store *redislimit.Store) {
	t.Helper()
	for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
		everyAlgorithmOf(t, store, key)
	}
}

func everyAlgorithmOf(t *testing.T, store *redislimit.Store, key string) {
	t.Helper()
	charges := slices.Concat(tb(key, 2), fw(key, 2), sl(key, 2), sw(key, 2), lb(key, 2), cc(key, 2, "holder"))
	results := make([]ratelimit.Result, len(charges))
	for _, step := range []struct {
		do        string
		call      func() error
		remaining int64 // afterwards
	}{
		{"take", func() error { return store.Take(t.Context(), charges, results) }, 3},
		{"refund", func() error { return store.Refund(t.Context(), charges) }, 5},
		{"take", func() error { return store.Take(t.Context(), charges, results) }, 3},
		{"renew", func() error { return store.Renew(t.Context(), charges[5:], make([]bool, 1)) }, 3},
		{"reset", func() error { return store.Reset(t.Context(), charges) }, 5},
	} {
		if err := step.call(); err != nil {
			t.Fatalf("%s of key %s: %v", step.do, key, err)
		}
		if err := store.Peek(t.Context(), charges, results); err != nil {
			t.Fatalf("peek of key %s: %v", key, err)
		}
		for j, r := range results {
			if r.Remaining != step.remaining {
				t.Errorf("%v of key %s after %s: %d remain: want %d", charges[j].Limit.Algorithm, key, step.do, r.Remaining, step.remaining)
			}
		}
	}
}

// The way to the server makes no difference.
func TestWaysToAServer(t *testing.T) {
	ways := map[string]func(testing.TB) *redis.Options{
		"TLS":         redistest.TLS,
		"unix socket": redistest.Unix,
		"RESP2": func(t testing.TB) *redis.Options {
			options := redistest.Server(t)
			options.Protocol = 2
			return options
		},
		"another database": func(t testing.TB) *redis.Options {
			options := redistest.Server(t)
			options.DB = 3
			return options
		},
	}
	for name, serve := range ways {
		t.Run(name, func(t *testing.T) {
			client := redis.NewClient(serve(t))
			defer func() { _ = client.Close() }()
			store := redislimit.NewPatient(client)
			if err := store.Check(t.Context()); err != nil {
				t.Error(err)
			}
			everyAlgorithm(t, store)
		})
	}
}

// A user who may do no more than docs/redis.md says, and only to keys of the prefix, passes the suite. The clock of the
// test has rights of its own.
func TestConformanceByUserWithTheLeastRights(t *testing.T) {
	if testing.Short() { // as under the race detector, to which it is what TestConformanceOnRedis and TestCluster are
		return
	}
	t.Parallel()
	redistest.Since(t, 7, "selectors, for the rights of the clock")
	server := redistest.Server(t)
	all, user := redis.NewClient(server), redis.NewClient(redistest.User(t, server, "limiter",
		append(leastRights(t), "(~readings +incr)", "(~rl:* +pexpiretime +pexpireat)")...))
	t.Cleanup(func() { _, _ = all.Close(), user.Close() })
	ratelimittest.Run(t, func(t *testing.T, test ratelimittest.Test) {
		store, advance := clockedBy(t, &handClock{}, user, all)
		test(t, store, advance)
	})
}

// Two real servers in a Ring pass the suite, as a Cluster does.
func TestConformanceOnRing(t *testing.T) {
	if testing.Short() { // as under the race detector, to which it is what TestConformanceOnRedis and TestCluster are
		return
	}
	t.Parallel()
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"one": redistest.Server(t).Addr, "two": redistest.Server(t).Addr}})
	t.Cleanup(func() { _ = ring.Close() })
	ratelimittest.RunByKey(t, onClock(ring))
}
