package redislimit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/ratelimittest"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// S17: with the time of the callers, a server that answers 0 to all who ask decides as any other.
func TestConformanceByClientTimeOnMiniredis(t *testing.T) {
	if testing.Short() { // as under the race detector, to which it is what TestConformanceOnRedis and TestCluster are
		return
	}
	t.Parallel()
	server := newMini(t)
	ratelimittest.Run(t, func(t *testing.T, test ratelimittest.Test) {
		server.empty()
		server.SetTime(time.Unix(0, 0))
		clock := &handClock{}
		store := redislimit.NewPatient(server.client, notRemembering, redislimit.ClientTimeOf(clock.now))
		test(t, store, func(d time.Duration) {
			clock.passed.Add(int64(d))
			server.FastForward(d)
		})
	})
}

func TestConformanceByClientTimeOnRedis(t *testing.T) {
	if testing.Short() { // as under the race detector, to which it is what TestConformanceOnRedis is
		return
	}
	t.Parallel()
	client := redistest.Client(t)
	ratelimittest.Run(t, func(t *testing.T, test ratelimittest.Test) {
		clock := &handClock{}
		store, advance := clockedBy(t, clock, client, client, redislimit.ClientTimeOf(clock.now))
		test(t, store, advance)
		if n := client.Get(context.Background(), "readings").Val(); n != "" {
			t.Errorf("the server was asked %s times for the time", n)
		}
	})
}

// S17: a user may have rights to all but the time.
func TestUserWhoMayNotAskForTheTime(t *testing.T) {
	client := redis.NewClient(redistest.User(t, redistest.Server(t), "ann", "~*", "+@all", "-time"))
	defer func() { _ = client.Close() }()
	for do, err := range each(t, redislimit.NewPatient(client), tb("a", 1)) {
		var e *redislimit.Error
		if !errors.As(err, &e) || e.Kind != redislimit.KindForbidden {
			t.Errorf("%s: error %v: want one of kind %q", do, err, redislimit.KindForbidden)
		}
	}
	if r := take(t, redislimit.NewPatient(client, redislimit.ClientTime()), tb("a", 1)); r.Remaining != 4 {
		t.Errorf("with the time of the client %d remain: want 4", r.Remaining)
	}
}

// The time goes with every call, also with one that is refused elsewhere.
func TestTimeOfTheClient(t *testing.T) {
	one := newMini(t)
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"one": one.Addr()}})
	defer func() { _ = ring.Close() }()
	clock, seen := &handClock{}, &intercept{}
	store, results := redislimit.NewPatient(ring, redislimit.ClientTimeOf(clock.now)), make([]ratelimit.Result, 2)
	for range 2 { // after the first the server knows the script
		if err := store.Take(t.Context(), append(tb("a", 6), tb("b", 1)...), results); err != nil {
			t.Fatal(err)
		}
		if len(seen.args) == 0 {
			ring.AddHook(seen)
		}
	}
	var got []string
	for _, args := range seen.args {
		got = append(got, fmt.Sprintf("%d for %q", args[4], args[5]))
	}
	want := []string{fmt.Sprintf(`%d for "1 1"`, epoch.UnixMicro()), fmt.Sprintf(`%d for "1 1 0"`, epoch.UnixMicro())}
	if !slices.Equal(got, want) {
		t.Errorf("scripts have the times %v: want %v", got, want)
	}
}

// A clock that was never set is no time to decide by.
func TestClientWithoutTime(t *testing.T) {
	servers(t, func(t *testing.T, client *redis.Client) {
		for _, us := range []int64{0, -1, 1 << 53} {
			now := func() time.Time { return time.UnixMicro(us) }
			for do, err := range each(t, redislimit.NewPatient(client, redislimit.ClientTimeOf(now)), tb("a", 1)) {
				want := `redislimit: ` + do + ` "rl:{a}:tb:1m": ERR ratelimit: the caller does not know the time`
				var e *redislimit.Error
				if !errors.As(err, &e) || e.Kind != redislimit.KindClock || e.Error() != want {
					t.Errorf("at %d µs: error %v: want %s", us, err, want)
				}
			}
		}
		if keys := client.Keys(t.Context(), "*").Val(); len(keys) != 0 {
			t.Errorf("keys %q were written", keys)
		}
	})
}

// skewed are two processes of which one has a clock that is ahead.
type skewed struct {
	server       *mini
	clock        *handClock
	ahead, right *redislimit.Store
}

func newSkewed(t *testing.T, by time.Duration) *skewed {
	s := &skewed{server: newMini(t), clock: &handClock{}}
	s.right = redislimit.NewPatient(s.server.client, redislimit.ClientTimeOf(s.clock.now))
	s.ahead = redislimit.NewPatient(s.server.client, redislimit.ClientTimeOf(func() time.Time { return s.clock.now().Add(by) }))
	return s
}

func (s *skewed) advance(d time.Duration) {
	s.clock.passed.Add(int64(d))
	s.server.FastForward(d)
}

// Where clocks differ by d, limits admit what they should in a span that is longer by d, however often those with
// different clocks take turns: a token bucket got back d's worth of tokens each time.
func TestClientsWhoseClocksDiffer(t *testing.T) {
	const count, period, burst, span, pause = 10, time.Second, 10, 3 * time.Second, 10 * time.Millisecond
	limit := func(a ratelimit.Algorithm) ratelimit.Limit {
		return ratelimit.Limit{Algorithm: a, Count: count, Period: period}
	}
	interval := limit(ratelimit.TokenBucket)
	interval.Refill = ratelimit.Interval
	windows := func(span time.Duration) int64 { return int64(span/period) + 1 }
	tests := []struct {
		limit ratelimit.Limit
		most  func(span time.Duration) int64
	}{
		{limit(ratelimit.TokenBucket), func(span time.Duration) int64 { return burst + int64(span*count/period) }},
		{interval, func(span time.Duration) int64 { return burst + count*windows(span) }},
		{limit(ratelimit.LeakyBucket), func(span time.Duration) int64 { return burst + int64(span*count/period) }},
		{limit(ratelimit.FixedWindow), func(span time.Duration) int64 { return count * windows(span) }},
		{limit(ratelimit.SlidingWindow), func(span time.Duration) int64 { return count * (windows(span) + 1) }},
		{limit(ratelimit.SlidingLog), func(span time.Duration) int64 { return count * windows(span) }},
	}
	for _, d := range []time.Duration{40 * time.Millisecond, 300 * time.Millisecond, time.Hour} {
		for _, test := range tests {
			t.Run(fmt.Sprintf("%v %v by %v", test.limit.Algorithm, test.limit.Refill, d), func(t *testing.T) {
				s := newSkewed(t, d)
				charges := []ratelimit.Charge{{Key: []byte("a"), Name: "1s", Limit: test.limit, Cost: 1}}
				var admitted int64
				for range span / pause {
					for _, store := range []*redislimit.Store{s.ahead, s.right} {
						if take(t, store, charges).Allowed {
							admitted++
						}
					}
					s.advance(pause)
				}
				t.Logf("admitted %d of %d calls in %v", admitted, 2*span/pause, span)
				if most := test.most(span + d); admitted > most {
					t.Errorf("admitted %d: want at most the %d of %v", admitted, most, span+d)
				}
				if admitted < count*int64(span/period)/2 {
					t.Errorf("admitted %d: want half of the %d of the limit at least", admitted, count*int64(span/period))
				}
			})
		}
	}
}

// A process whose clock is ahead, or was, shuts others out for that long at most, and for no longer than a bucket takes to
// be as new unless it is a leaky bucket.
func TestClientWhoseClockIsBehind(t *testing.T) {
	const count, period, pause = 10, time.Second, 10 * time.Millisecond
	for _, d := range []time.Duration{100 * time.Millisecond, 500 * time.Millisecond, 5 * time.Second} {
		for _, limit := range ofEach(count, period)[:5] {
			t.Run(fmt.Sprintf("%v by %v", limit.Algorithm, d), func(t *testing.T) {
				s := newSkewed(t, d)
				charges := []ratelimit.Charge{{Key: []byte("a"), Name: "1s", Limit: limit, Cost: count}}
				reset := take(t, s.ahead, charges).ResetAfter
				most := reset + d
				if limit.Algorithm != ratelimit.LeakyBucket {
					most = reset + min(d, reset)
				}
				charges[0].Cost = 1
				waited := time.Duration(0)
				for !take(t, s.right, charges).Allowed {
					s.advance(pause)
					waited += pause
					if waited > most+pause {
						t.Fatalf("refused for %v: want %v at most", waited, most)
					}
				}
			})
		}
	}
}

// A lease that is renewed, which is done thrice in its time, is not taken from its holder by a clock that is ahead by less
// than a third of it.
func TestLeaseByClocksThatDiffer(t *testing.T) {
	const lease, renewal, pause = 30 * time.Second, 10 * time.Second, time.Second
	for _, d := range []time.Duration{-renewal + pause, renewal - pause} {
		s := newSkewed(t, d)
		ours, theirs := leased("a", 1, "ann"), leased("a", 5, "bob")
		take(t, s.right, ours)
		for passed := time.Duration(0); passed < 3*lease; passed += pause {
			if held := make([]bool, 1); passed%renewal == 0 {
				if err := s.right.Renew(t.Context(), ours, held); err != nil || !held[0] {
					t.Fatalf("by %v: renewed after %v: %v, error %v", d, passed, held[0], err)
				}
			}
			if r := take(t, s.ahead, theirs); r.Allowed {
				t.Fatalf("by %v: all slots are taken after %v", d, passed)
			}
			s.advance(pause)
		}
	}
}

// Calls of one process overtake each other on their way, and so come with earlier times than those before them.
func TestCallsThatOvertakeEachOther(t *testing.T) {
	const callers, span, count, period = 64, 300 * time.Millisecond, 20, 20 * time.Millisecond
	clients := connect(t, 8)
	limit := ratelimit.Limit{Count: count, Period: period}
	var admitted atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for i := range callers {
		store := redislimit.NewPatient(clients[i%len(clients)], redislimit.ClientTime())
		wg.Go(func() {
			results := make([]ratelimit.Result, 1)
			charges := []ratelimit.Charge{{Key: []byte("hot"), Name: "20ms", Limit: limit, Cost: 1}}
			for time.Since(start) < span {
				if err := store.Take(t.Context(), charges, results); err != nil {
					t.Error(err)
				} else if results[0].Allowed {
					admitted.Add(1)
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	if most := count + int64(took*count/period); admitted.Load() > most {
		t.Errorf("admitted %d in %v: want %d at most", admitted.Load(), took, most)
	}
}
