package redislimit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// A user's test controls time by the server's SetTime, and need not know that refusals are remembered.
func TestTimeThatATestSetsIsSeen(t *testing.T) {
	const step = 5 * time.Millisecond
	for _, test := range []struct {
		name  string
		steps int           // that the test has done before the call that is refused
		moves time.Duration // by which it moves the server's clock with each
	}{
		{"from the start", 0, 0},
		{"after the clock has stood still for long", 600, 0},
		{"after the clock went more slowly", 600, step * 9 / 10},
		{"after the clock went faster", 600, step * 11 / 10},
		{"after the clock jumped", 600, time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := miniredis.RunT(t)
			fakeTime(t, func(t *testing.T) {
				client := redis.NewClient(&redis.Options{Addr: server.Addr()})
				defer func() { _ = client.Close() }()
				store := redislimit.New(client, redislimit.Timeout(time.Minute))
				now := time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC)
				server.SetTime(now)
				for range test.steps {
					take(t, store, tb("other", 1))
					now = now.Add(test.moves)
					server.SetTime(now)
					time.Sleep(step)
				}
				for range 3 {
					if r := take(t, store, fw("a", 5)); !r.Allowed {
						t.Fatalf("result is %+v: want it to be allowed", r)
					}
					time.Sleep(time.Microsecond)
					if r := take(t, store, fw("a", 1)); r.Allowed || r.RetryAfter != time.Minute {
						t.Fatalf("result is %+v: want it to be refused for a minute", r)
					}
					now = now.Add(time.Minute)
					server.SetTime(now)
				}
			})
		})
	}
}

// When the server's clock was set, or a server with another clock has taken over, the next reply to anybody tells, and
// nothing that was remembered holds any more. A while later refusals are remembered again.
func TestRefusalEndsWithTheServersClock(t *testing.T) {
	server := miniredis.RunT(t)
	const ms = time.Millisecond
	for _, test := range []struct {
		name  string
		by    time.Duration // that the clock is set
		times int
		known bool
	}{
		{"not set", 0, 1, true},
		{"by what clocks may differ", 50 * ms, 1, true},
		{"by more than that", 51 * ms, 1, false},
		{"by more than that in small steps", ms, 51, false},
		{"by an hour", time.Hour, 1, false},
		{"back by what clocks may differ", -50 * ms, 1, true},
		{"back by more than that", -51 * ms, 1, false},
		{"back by an hour", -time.Hour, 1, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			server.FlushAll()
			ahead := time.Hour
			aheadOf(t, server, &ahead, func(t *testing.T, client *redis.Client, sent func() int) {
				store := redislimit.New(client, redislimit.Timeout(time.Minute))
				isKnown := func(key string) bool {
					sent()
					take(t, store, fw(key, 1))
					return sent() == 0
				}
				refuse := func(key string) {
					t.Helper()
					warm(t, store)
					take(t, store, fw(key, 5))
					time.Sleep(time.Microsecond)
					if isKnown(key) || !isKnown(key) {
						t.Fatal("what is refused is not known from the second time on")
					}
				}
				refuse("a")
				refuse("b")
				for i := range test.times {
					ahead += test.by
					take(t, store, tb(fmt.Sprint("other-", i), 1))
				}
				if known := isKnown("a"); known != test.known {
					t.Errorf("known %t: want %t", known, test.known)
				}
				warm(t, store)
				if known := isKnown("b"); known != test.known {
					t.Errorf("when the clock has run for long enough, known %t: want %t", known, test.known)
				}
				refuse("c")
			})
		})
	}
}

// How the clocks of a Cluster's servers agree decides for all of them.
func TestRefusalsByServersWhoseClocksDiffer(t *testing.T) {
	for _, test := range []struct {
		differ time.Duration
		known  bool
	}{{0, true}, {50 * time.Millisecond, true}, {51 * time.Millisecond, false}, {time.Hour, false}} {
		t.Run(fmt.Sprint(test.differ), func(t *testing.T) {
			servers := [...]*miniredis.Miniredis{miniredis.RunT(t), miniredis.RunT(t)}
			fakeTime(t, func(t *testing.T) {
				ring := redis.NewRing(&redis.RingOptions{
					Addrs:              map[string]string{"one": servers[0].Addr(), "two": servers[1].Addr()},
					HeartbeatFrequency: time.Hour,
				})
				defer func() { _ = ring.Close() }()
				ring.AddHook(&intercept{answer: func(redis.Cmder) (bool, error) {
					servers[0].SetTime(time.Now())
					servers[1].SetTime(time.Now().Add(test.differ))
					return false, nil
				}})
				store := redislimit.New(ring, redislimit.Timeout(time.Minute))
				for range 40 {
					for i := range 10 {
						take(t, store, tb(fmt.Sprint(i), 1))
					}
					time.Sleep(redislimit.SteadySpan / 20)
				}
				if known := store.Denied() > 0; known != test.known {
					t.Errorf("known %t: want %t", known, test.known)
				}
			})
		})
	}
}

// By a server whose clock nobody moves, refusals are remembered after a second, and not before.
func TestRefusalsByAServerAreRemembered(t *testing.T) {
	client := redistest.Client(t)
	sent := &intercept{}
	client.AddHook(sent)
	store, results := redislimit.NewPatient(client), make([]ratelimit.Result, 1)
	charges := []ratelimit.Charge{{Key: []byte("a"), Name: "1h", Limit: ratelimit.Limit{Count: 1, Period: time.Hour}, Cost: 1}}
	asked := func() int {
		t.Helper()
		sent.mu.Lock()
		sent.commands = nil
		sent.mu.Unlock()
		for range 10 {
			if err := store.Take(t.Context(), charges, results); err != nil {
				t.Fatal(err)
			}
		}
		sent.mu.Lock()
		defer sent.mu.Unlock()
		return len(sent.commands)
	}
	start := time.Now()
	take(t, store, charges)
	if n := asked(); n != 10 && time.Since(start) < redislimit.SteadySpan {
		t.Errorf("of 10 calls at the start %d were asked", n)
	}
	time.Sleep(redislimit.SteadySpan)
	if n := asked(); n != 1 || results[0].Allowed {
		t.Errorf("of 10 calls a second later %d were asked: want one; result is %+v", n, results[0])
	}
}
