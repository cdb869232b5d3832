package redislimit_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// warm has a Store see for as long as it takes that the clock of its server runs.
func warm(t testing.TB, store *redislimit.Store) {
	t.Helper()
	take(t, store, tb("warm", 1))
	time.Sleep(redislimit.SteadySpan)
	take(t, store, tb("warm", 1))
	time.Sleep(time.Microsecond) // what is refused in the same moment as a call is admitted may be from before it
}

// inStep runs a test in fake time, in which the clock of the server is that of the process. The client counts commands.
func inStep(t *testing.T, server *miniredis.Miniredis, test func(t *testing.T, client *redis.Client, sent func() int)) {
	t.Helper()
	ahead := time.Duration(0)
	aheadOf(t, server, &ahead, test)
}

// aheadOf is inStep with a clock of the server that is ahead by so much at its next command.
func aheadOf(t *testing.T, server *miniredis.Miniredis, ahead *time.Duration, test func(t *testing.T, client *redis.Client, sent func() int)) {
	t.Helper()
	fakeTime(t, func(t *testing.T) {
		seen := &intercept{answer: func(redis.Cmder) (bool, error) {
			server.SetTime(time.Now().Add(*ahead))
			return false, nil
		}}
		client := redis.NewClient(&redis.Options{Addr: server.Addr()})
		defer func() { _ = client.Close() }()
		client.AddHook(seen)
		test(t, client, func() int {
			seen.mu.Lock()
			defer seen.mu.Unlock()
			n := len(seen.commands)
			seen.commands = nil
			return n
		})
	})
}

// R24: the last unit is admitted, by a Store that remembers refusals as by one that does not.
func TestLastUnitIsAdmitted(t *testing.T) {
	server := miniredis.RunT(t)
	for name, option := range map[string]redislimit.Option{"remembered": redislimit.DenyCache(100), "asked": redislimit.DenyCache(0)} {
		t.Run(name, func(t *testing.T) {
			server.FlushAll()
			inStep(t, server, func(t *testing.T, client *redis.Client, _ func() int) {
				store := redislimit.New(client, option)
				warm(t, store)
				take(t, store, fw("a", 3))
				for i, want := range []struct {
					allowed   bool
					remaining int64
				}{{true, 1}, {true, 0}, {false, 0}, {false, 0}} {
					results := make([]ratelimit.Result, 1)
					if err := store.Take(t.Context(), fw("a", 1), results); err != nil {
						t.Fatal(err)
					}
					if got := results[0]; got.Allowed != want.allowed || got.Remaining != want.remaining {
						t.Errorf("call %d: %t with %d remaining, want %t with %d", 4+i, got.Allowed, got.Remaining, want.allowed, want.remaining)
					}
				}
			})
		})
	}
}

// A refused call is refused from memory until its RetryAfter, and not a microsecond longer.
func TestRefusedCallIsNotAskedAgain(t *testing.T) {
	server := miniredis.RunT(t)
	const us = time.Microsecond
	period := func(charges []ratelimit.Charge, d time.Duration) []ratelimit.Charge {
		charges[0].Limit.Period = d
		return charges
	}
	fresh := func(charges []ratelimit.Charge) []ratelimit.Charge {
		charges[0].Fresh = true
		return charges
	}
	patient := func(charges []ratelimit.Charge) []ratelimit.Charge {
		charges[0].Wait = time.Second
		return charges
	}
	both := func(a, b []ratelimit.Charge) []ratelimit.Charge { return append(a, b...) }
	for _, test := range []struct {
		name  string
		first []ratelimit.Charge // makes the bucket full
		call  []ratelimit.Charge // is refused
		after time.Duration      // the first
		again []ratelimit.Charge
		asked bool
	}{
		{"token bucket", tb("a", 5), tb("a", 1), 12*time.Second - us, tb("a", 1), false},
		{"token bucket, at its RetryAfter", tb("a", 5), tb("a", 1), 12 * time.Second, tb("a", 1), true},
		{"fixed window", fw("a", 5), fw("a", 1), time.Minute - us, fw("a", 1), false},
		{"fixed window, at its RetryAfter", fw("a", 5), fw("a", 1), time.Minute, fw("a", 1), true},
		{"sliding log", sl("a", 5), sl("a", 1), time.Minute - us, sl("a", 1), false},
		{"sliding window", sw("a", 5), sw("a", 1), time.Minute, sw("a", 1), false}, // until a fifth of the next one has passed
		{"leaky bucket", lb("a", 5), lb("a", 1), 12*time.Second - us, lb("a", 1), false},
		{"concurrency", cc("a", 5, "ann"), cc("a", 1, "bob"), us, cc("a", 1, "bob"), true},
		{"a long RetryAfter", period(fw("a", 5), time.Hour), period(fw("a", 1), time.Hour), time.Minute, period(fw("a", 1), time.Hour), false},
		{"a long RetryAfter, after a minute", period(fw("a", 5), time.Hour), period(fw("a", 1), time.Hour), time.Minute + us, period(fw("a", 1), time.Hour), true},
		{"a higher cost", tb("a", 3), tb("a", 3), us, tb("a", 4), false},
		{"a lower cost", tb("a", 3), tb("a", 3), us, tb("a", 2), true},
		{"a cost above the capacity", tb("a", 3), tb("a", 3), us, tb("a", 6), true},
		{"a cost that was above the capacity", tb("a", 3), tb("a", 6), us, tb("a", 6), true},
		{"a look", tb("a", 5), tb("a", 1), us, tb("a", 0), true},
		{"another key", tb("a", 5), tb("a", 1), us, tb("b", 1), true},
		{"another algorithm", tb("a", 5), tb("a", 1), us, lb("a", 1), true},
		{"another limit", tb("a", 5), tb("a", 1), us, period(tb("a", 1), time.Hour), true},
		{"a caller that would wait", tb("a", 5), tb("a", 1), us, patient(tb("a", 1)), true},
		{"a caller that would have waited", tb("a", 5), patient(tb("a", 1)), us, tb("a", 1), true},
		{"what must be asked", tb("a", 5), tb("a", 1), us, fresh(tb("a", 1)), true},
		{"what had to be asked", tb("a", 5), fresh(tb("a", 1)), us, tb("a", 1), true},
		{"two limits", tb("a", 5), both(tb("a", 1), fw("a", 1)), 12*time.Second - us, both(tb("a", 1), fw("a", 1)), false},
		{"two limits of which one has room for a slot", tb("a", 5), both(tb("a", 1), cc("a", 1, "ann")), us, both(tb("a", 1), cc("a", 1, "bob")), false},
		{"two limits, the other way around", tb("a", 5), both(tb("a", 1), fw("a", 1)), us, both(fw("a", 1), tb("a", 1)), true},
		{"one limit of two", tb("a", 5), both(tb("a", 1), fw("a", 1)), us, tb("a", 1), true},
		{"two limits of one", tb("a", 5), tb("a", 1), us, both(tb("a", 1), fw("a", 1)), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			server.FlushAll()
			inStep(t, server, func(t *testing.T, client *redis.Client, sent func() int) {
				store := redislimit.New(client)
				warm(t, store)
				take(t, store, test.first)
				time.Sleep(time.Microsecond)
				if err := store.Take(t.Context(), test.call, make([]ratelimit.Result, len(test.call))); err != nil {
					t.Fatal(err)
				}
				time.Sleep(test.after - time.Microsecond)
				sent()
				results := make([]ratelimit.Result, len(test.again))
				if err := store.Take(t.Context(), test.again, results); err != nil {
					t.Fatal(err)
				}
				if asked := sent() > 0; asked != test.asked {
					t.Errorf("asked %t: want %t; results are %+v", asked, test.asked, results)
				}
			})
		})
	}
}

// Of a call for several Keys of a Cluster nothing is remembered: units that others took for one may be given back.
func TestRefusalOfACallForSeveralServersIsNotRemembered(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		server := &fake{replies: map[string][]any{"rl:{a}:tb:1m": {refusal(time.Hour), refusal(time.Hour)}}, runs: true}
		route := func(context.Context, string) (string, error) { return "server", nil }
		store := redislimit.NewOn(server, route)
		warm(t, store)
		charges, results := append(tb("a", 1), tb("b", 1)...), make([]ratelimit.Result, 2)
		for range 2 {
			if err := store.Take(t.Context(), charges, results); err != nil || results[0].Allowed {
				t.Fatalf("error %v, results %+v", err, results)
			}
		}
		if n := store.Denied(); n != 0 {
			t.Errorf("%d calls are remembered", n)
		}
		server.replies["rl:{a}:tb:1m"] = []any{refusal(time.Hour)}
		for range 2 {
			if r := take(t, store, tb("a", 1)); r.Allowed {
				t.Fatal("one charge is allowed")
			}
		}
		if n := store.Denied(); n != 1 {
			t.Errorf("%d calls of one charge are remembered", n)
		}
	})
}

// A call whose context has ended is told so, and a call that is known to be refused is so while its server is away.
func TestKnownRefusalAndTheContextAndTheServer(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		server := &fake{replies: map[string][]any{"rl:{a}:tb:1m": {refusal(time.Hour)}}, runs: true}
		store := redislimit.NewOn(server, nil)
		warm(t, store)
		take(t, store, tb("a", 1))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := takeOne(ctx, store, "a"); !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that has ended the error is %v", err)
		}
		server.serve(failing("LOADING"))
		if r := take(t, store, tb("a", 1)); r.Allowed || r.RetryAfter < 50*time.Minute {
			t.Errorf("while the server is away the result is %+v", r)
		}
	})
}
