package redislimit_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// A call whose reply is lost is an error and is charged once. By default go-redis sends it four times.
func TestLostReplyIsChargedOnce(t *testing.T) {
	direct := redistest.Client(t)
	proxy := redistest.NewProxy(t, direct.Options().Addr)
	client := redis.NewClient(&redis.Options{Addr: proxy.Addr()})
	defer func() { _ = client.Close() }()

	proxy.Lose("incr")
	if err := client.Incr(t.Context(), "counter").Err(); err == nil {
		t.Fatal("the proxy loses nothing")
	}
	if n := direct.Get(t.Context(), "counter").Val(); n == "1" {
		t.Fatal("the client sends nothing twice: the test shows nothing")
	}

	takeIt := func(ctx context.Context, s *redislimit.Store, charges []ratelimit.Charge) error {
		return s.Take(ctx, charges, make([]ratelimit.Result, len(charges)))
	}
	refundIt := func(ctx context.Context, s *redislimit.Store, charges []ratelimit.Charge) error {
		return s.Refund(ctx, charges)
	}
	limit := ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 100, Period: 1000 * time.Hour}
	tests := []struct {
		name string
		lost string
		warm bool // whether the server knows the script
		call func(context.Context, *redislimit.Store, []ratelimit.Charge) error
		left int64
	}{
		{"take", "evalsha", true, takeIt, 89},
		{"take of a script that the server has forgotten", "eval", false, takeIt, 89},
		{"refund", "evalsha", true, refundIt, 91},
		{"refund of a script that the server has forgotten", "eval", false, refundIt, 91},
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			proxy.Forward()
			store, directly := redislimit.NewPatient(client), redislimit.New(direct)
			c := ratelimit.Charge{Key: []byte{'a' + byte(i)}, Name: "long", Limit: limit, Cost: 10}
			take(t, directly, []ratelimit.Charge{c})
			c.Cost = 1
			if test.warm {
				if err := directly.Refund(t.Context(), []ratelimit.Charge{{Key: []byte("other"), Name: "long", Limit: limit, Cost: 1}}); err != nil {
					t.Fatal(err)
				}
			} else if err := direct.ScriptFlush(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}

			before := proxy.Lost()
			proxy.Lose(test.lost)
			if err := test.call(t.Context(), store, []ratelimit.Charge{c}); err == nil {
				t.Error("the lost reply is no error")
			}
			if n := proxy.Lost() - before; n != 1 {
				t.Errorf("the command was executed %d times: want once", n)
			}
			results := make([]ratelimit.Result, 1)
			if err := directly.Peek(t.Context(), []ratelimit.Charge{c}, results); err != nil {
				t.Fatal(err)
			}
			if results[0].Remaining != test.left {
				t.Errorf("%d remain: want %d", results[0].Remaining, test.left)
			}
		})
	}
}

// A reply that is lost charges once, with each algorithm, again and again.
func TestThousandLostReplies(t *testing.T) {
	lost := 1000
	if testing.Short() {
		lost = 50
	}
	proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
	client := redis.NewClient(&redis.Options{Addr: proxy.Addr()})
	defer func() { _ = client.Close() }()
	store, results := redislimit.NewPatient(client), make([]ratelimit.Result, 1)
	for _, limit := range ofEach(2000, 366*24*time.Hour) { // a unit comes back after four hours at the earliest
		c := ratelimit.Charge{Key: []byte("a"), Name: "366d", Limit: limit, Cost: 1, Holder: "first"}
		take(t, store, []ratelimit.Charge{c})
		before := proxy.Lost()
		for i := range lost {
			if limit.Algorithm == ratelimit.Concurrency {
				c.Holder = fmt.Sprint(i)
			}
			proxy.Lose("evalsha")
			if err := store.Take(t.Context(), []ratelimit.Charge{c}, results); kindOf(err) != redislimit.KindConnection {
				t.Fatalf("%v: call %d: error %v: want a connection that broke", limit.Algorithm, i, err)
			}
			proxy.Forward()
			if err := store.Peek(t.Context(), []ratelimit.Charge{c}, results); err != nil {
				t.Fatal(err)
			}
			if want := limit.Count - int64(i) - 2; results[0].Remaining != want {
				t.Fatalf("%v: after %d lost replies %d remain: want %d", limit.Algorithm, i+1, results[0].Remaining, want)
			}
		}
		if n := proxy.Lost() - before; n != int64(lost) {
			t.Errorf("%v: %d replies were lost: want %d", limit.Algorithm, n, lost)
		}
	}
}
