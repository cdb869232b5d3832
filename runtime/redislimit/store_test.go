package redislimit_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

func ExampleNew() {
	server, err := miniredis.Run()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer func() { _ = client.Close() }()

	limiter, err := ratelimit.New(redislimit.New(client, redislimit.Prefix("shop:")))
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		result, err := limiter.Allow(context.Background(), "signup", ratelimit.Limit{Count: 2, Period: time.Minute})
		fmt.Println(result.Allowed, result.Remaining, err)
	}
	fmt.Println(server.Keys())
	// Output:
	// true 1 <nil>
	// true 0 <nil>
	// false 0 <nil>
	// [shop:{signup}:tb:1m]
}

func tb(key string, cost int64) []ratelimit.Charge {
	return []ratelimit.Charge{{Key: []byte(key), Name: "1m", Limit: ratelimit.Limit{Count: 5, Period: time.Minute}, Cost: cost}}
}

func fw(key string, cost int64) []ratelimit.Charge {
	limit := ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 5, Period: time.Minute}
	return []ratelimit.Charge{{Key: []byte(key), Name: "1m", Limit: limit, Cost: cost}}
}

func lb(key string, cost int64) []ratelimit.Charge {
	limit := ratelimit.Limit{Algorithm: ratelimit.LeakyBucket, Count: 5, Period: time.Minute}
	return []ratelimit.Charge{{Key: []byte(key), Name: "1m", Limit: limit, Cost: cost}}
}

func sw(key string, cost int64) []ratelimit.Charge {
	limit := ratelimit.Limit{Algorithm: ratelimit.SlidingWindow, Count: 5, Period: time.Minute}
	return []ratelimit.Charge{{Key: []byte(key), Name: "1m", Limit: limit, Cost: cost}}
}

func sl(key string, cost int64) []ratelimit.Charge {
	limit := ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: 5, Period: time.Minute}
	return []ratelimit.Charge{{Key: []byte(key), Name: "1m", Limit: limit, Cost: cost}}
}

func cc(key string, cost int64, holder string) []ratelimit.Charge {
	limit := ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 5, Period: time.Minute}
	return []ratelimit.Charge{{Key: []byte(key), Name: "1m", Limit: limit, Cost: cost, Holder: holder}}
}

// take fails the test unless the one charge is decided, and returns its result.
func take(t testing.TB, store ratelimit.Store, charges []ratelimit.Charge) ratelimit.Result {
	t.Helper()
	results := make([]ratelimit.Result, 1)
	if err := store.Take(t.Context(), charges, results); err != nil {
		t.Fatal(err)
	}
	return results[0]
}

func TestKeysAndTexts(t *testing.T) {
	server := newMini(t)
	store := redislimit.NewPatient(server.client)
	take(t, store, tb("testGet:203.0.113.7", 2))
	server.advance(500 * time.Microsecond)
	take(t, store, tb("testGet:203.0.113.7", 1))
	take(t, store, fw("testGet:203.0.113.7", 1))
	take(t, store, lb("testGet:203.0.113.7", 2))
	take(t, store, sw("testGet:203.0.113.7", 2))
	thirds := lb("thirds", 1)
	thirds[0].Limit.Count = 9
	take(t, store, thirds)
	want := map[string]string{
		"rl:{testGet:203.0.113.7}:tb:1m": fmt.Sprintf("3 %d %d", epoch.UnixMicro()+500, 500*5),
		"rl:{testGet:203.0.113.7}:fw:1m": fmt.Sprintf("1 %d", epoch.UnixMicro()+500),
		"rl:{testGet:203.0.113.7}:lb:1m": fmt.Sprintf("%d", epoch.UnixMicro()+500+24_000_000),
		"rl:{thirds}:lb:1m":              fmt.Sprintf("%d 3", epoch.UnixMicro()+500+6_666_667), // three ninths too late
		"rl:{testGet:203.0.113.7}:sw:1m": fmt.Sprintf("2 %d 0", epoch.UnixMicro()+500),
	}
	if got := server.Keys(); len(got) != len(want) {
		t.Errorf("keys are %q: want those of %v", got, want)
	}
	for key, text := range want {
		if got, _ := server.Get(key); got != text {
			t.Errorf("%s holds %q: want %q", key, got, text)
		}
	}
}

// R14, R10, S09: no key is left by calls that charge nothing.
func TestCallsThatChargeNothingLeaveNoKey(t *testing.T) {
	server := newMini(t)
	store := redislimit.NewPatient(server.client)
	results := make([]ratelimit.Result, 1)
	for _, charges := range [][]ratelimit.Charge{tb("a", 1), fw("b", 1), lb("c", 1), sw("d", 1), sl("e", 1), cc("f", 1, "ann")} {
		if err := store.Peek(t.Context(), charges, results); err != nil {
			t.Fatal(err)
		}
		if err := store.Refund(t.Context(), charges); err != nil && !errors.Is(err, ratelimit.ErrLeaseLost) {
			t.Fatal(err)
		}
		charges[0].Cost = 6
		take(t, store, charges)
		charges[0].Cost = 0
		take(t, store, charges)
	}
	if keys := server.Keys(); len(keys) != 0 {
		t.Errorf("keys %q are left", keys)
	}
}

// R39, R21: a refund of everything, and a reset, remove the key.
func TestBucketMadeAsNewIsGone(t *testing.T) {
	server := newMini(t)
	store := redislimit.NewPatient(server.client)
	for _, charges := range [][]ratelimit.Charge{tb("a", 3), fw("b", 3), lb("c", 3), sw("d", 3), sl("e", 3), cc("f", 3, "ann")} {
		take(t, store, charges)
		if err := store.Refund(t.Context(), charges); err != nil {
			t.Fatal(err)
		}
		if keys := server.Keys(); len(keys) != 0 {
			t.Errorf("keys %q are left by the refund", keys)
		}
		take(t, store, charges)
		if err := store.Reset(t.Context(), charges); err != nil {
			t.Fatal(err)
		}
		if keys := server.Keys(); len(keys) != 0 {
			t.Errorf("keys %q are left by the reset", keys)
		}
	}
}

// S10: a counter without time to live would block its client for ever, or stay for ever.
func TestLostTimeToLiveIsGivenBack(t *testing.T) {
	server := newMini(t)
	store := redislimit.NewPatient(server.client)
	for _, charges := range [][]ratelimit.Charge{tb("full", 5), fw("full", 5), lb("full", 5), sw("full", 5), sl("full", 5), cc("full", 5, "ann")} {
		key := keyOf(charges[0])
		take(t, store, charges)
		server.client.Persist(t.Context(), key)

		refused := charges[0]
		refused.Cost, refused.Holder = 1, "bob"
		if r := take(t, store, []ratelimit.Charge{refused}); r.Allowed {
			t.Fatalf("%s: a full bucket allows", key)
		}
		if ttl := server.TTL(key); ttl <= 0 || ttl > 2*time.Minute+slack {
			t.Errorf("%s lives for %v: want about a minute, or what is left of two", key, ttl)
		}

		// As new, but kept by a lost time to live, and refused for its cost.
		server.client.Persist(t.Context(), key)
		server.advance(time.Hour)
		refused.Cost = 6
		take(t, store, []ratelimit.Charge{refused})
		if ttl := server.TTL(key); ttl <= 0 || ttl > slack {
			t.Errorf("%s, as new, lives for %v: want no more than %v", key, ttl, slack)
		}
		refused.Cost = 5
		if r := take(t, store, []ratelimit.Charge{refused}); !r.Allowed {
			t.Errorf("%s is refused after its period", key)
		}
	}
}

func TestStateIsOnePieceInRedis(t *testing.T) {
	client := redistest.Client(t)
	store := redislimit.NewPatient(client)
	limit := ratelimit.Limit{Count: 1_000_000_000, Period: 366 * 24 * time.Hour} // the longest part and used
	c := ratelimit.Charge{Key: []byte("large"), Name: "1y", Limit: limit, Cost: 999_999_000}
	take(t, store, []ratelimit.Charge{c})
	c.Cost = 1
	take(t, store, []ratelimit.Charge{c})
	isOnePiece(t, client, keyOf(c))
	if bytes, err := client.MemoryUsage(t.Context(), keyOf(c)).Result(); bytes > 128 || err != nil {
		t.Errorf("the key takes %d bytes, error %v: want at most 128", bytes, err)
	}

	// A leaky bucket is one number wherever an interval is a whole number of microseconds, of which servers make 8 bytes, or
	// one piece with a short key.
	take(t, store, lb("a", 1))
	if n, err := client.Get(t.Context(), "rl:{a}:lb:1m").Int64(); n <= 0 || err != nil {
		t.Errorf("a leaky bucket is kept as %d, error %v: want one number", n, err)
	}
	if bytes, err := client.MemoryUsage(t.Context(), "rl:{a}:lb:1m").Result(); bytes > 72 || err != nil {
		t.Errorf("a leaky bucket takes %d bytes, error %v: want at most 72", bytes, err)
	}
}

// isOnePiece checks that a state has at most 44 bytes: Redis keeps as many in one piece with its header. Some versions keep
// the key there instead.
func isOnePiece(t *testing.T, client *redis.Client, key string) {
	t.Helper()
	if text, err := client.Get(t.Context(), key).Result(); text == "" || len(text) > 44 || err != nil {
		t.Errorf("%s is kept as %q, error %v: want at most 44 bytes", key, text, err)
	}
}

// R23: a refused call leaves the time to live as it was, wherever in a millisecond the calls happen to be.
func TestRefusedCallLeavesTheTimeToLive(t *testing.T) {
	servers(t, func(t *testing.T, client *redis.Client) {
		for written := time.Duration(0); written < time.Millisecond; written += 111 * time.Microsecond {
			for refused := time.Duration(0); refused < 3*time.Millisecond; refused += 250 * time.Microsecond {
				store, advance := clocked(t, client)
				advance(written)
				full := fw("a", 5)
				full[0].Limit.Period = 4321 * time.Microsecond
				take(t, store, full)
				before := expiryOf(t, client, keyOf(full[0]))
				advance(refused)
				if r := take(t, store, full); r.Allowed {
					t.Fatalf("refused %v after the full take: %+v", refused, r)
				}
				if after := expiryOf(t, client, keyOf(full[0])); after != before || after <= 0 {
					t.Fatalf("written at %v, refused %v later: expiry %v has become %v", written, refused, before, after)
				}
			}
		}
	})
}
