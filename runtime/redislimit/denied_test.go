package redislimit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// warm has a Store see for as long as it takes that the clock of its server runs.
func warm(t *testing.T, store *redislimit.Store) {
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
	synctest.Test(t, func(t *testing.T) {
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

// What is done through the Store to a bucket that has refused is known at once, but of a refund that was lost, for which
// Redis is asked as long as it may come.
func TestRefusalIsForgotten(t *testing.T) {
	server := miniredis.RunT(t)
	limit := ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 5, Period: time.Hour}
	charge := func(cost int64) []ratelimit.Charge {
		return []ratelimit.Charge{{Key: []byte("a"), Name: "1h", Limit: limit, Cost: cost}}
	}
	for _, test := range []struct {
		name string
		do   func(ctx context.Context, store *redislimit.Store, client *redis.Client) error
		want ratelimit.Result // of a call for three units, less the time
	}{
		{"nothing", func(context.Context, *redislimit.Store, *redis.Client) error { return nil }, ratelimit.Result{Limit: 5, Remaining: 2, RetryAfter: time.Hour}},
		{"refund", func(ctx context.Context, store *redislimit.Store, _ *redis.Client) error {
			return store.Refund(ctx, charge(1))
		}, ratelimit.Result{Allowed: true, Limit: 5, Remaining: 0}},
		{"reset", func(ctx context.Context, store *redislimit.Store, _ *redis.Client) error {
			return store.Reset(ctx, charge(0))
		}, ratelimit.Result{Allowed: true, Limit: 5, Remaining: 2}},
		{"cheaper call", func(ctx context.Context, store *redislimit.Store, _ *redis.Client) error {
			return store.Take(ctx, charge(1), make([]ratelimit.Result, 1))
		}, ratelimit.Result{Limit: 5, Remaining: 1, RetryAfter: time.Hour}},
		{"lost refund", func(ctx context.Context, store *redislimit.Store, client *redis.Client) error {
			cut := true
			client.AddHook(&intercept{answer: func(redis.Cmder) (bool, error) { return cut, net.ErrClosed }})
			if err := store.Refund(ctx, charge(1)); kindOf(err) != redislimit.KindConnection {
				return fmt.Errorf("the refund was not lost: %w", err)
			}
			cut = false
			if err := store.Take(ctx, charge(3), make([]ratelimit.Result, 1)); err != nil { // is not remembered
				return err
			}
			return redislimit.NewPatient(client).Refund(ctx, charge(1)) // comes late
		}, ratelimit.Result{Allowed: true, Limit: 5, Remaining: 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			server.FlushAll()
			inStep(t, server, func(t *testing.T, client *redis.Client, _ func() int) {
				store := redislimit.New(client)
				warm(t, store)
				take(t, store, charge(3))
				time.Sleep(time.Microsecond)
				take(t, store, charge(3))
				time.Sleep(time.Microsecond)
				if err := test.do(t.Context(), store, client); err != nil {
					t.Fatal(err)
				}
				got := take(t, store, charge(3))
				got.At, got.ResetAfter = 0, 0
				if !got.Allowed {
					got.RetryAfter += 2 * time.Microsecond
				}
				if got != test.want {
					t.Errorf("result is %+v: want %+v", got, test.want)
				}
			})
		})
	}
}

// The calls that a Store remembers are bounded, and those that are refused for longest stay.
func TestRememberedRefusalsAreBounded(t *testing.T) {
	for _, test := range []struct{ calls, most, least int }{{-1, 0, 0}, {0, 0, 0}, {1, 1, 1}, {10, 10, 10}, {100, 100, 95}} {
		inFakeTime(t, func(t *testing.T) {
			server := &fake{replies: map[string][]any{}, runs: true}
			store := redislimit.NewOn(server, nil, redislimit.DenyCache(test.calls))
			warm(t, store)
			for i := range 1000 {
				key := fmt.Sprint(i)
				server.replies["rl:{"+key+"}:tb:1m"] = []any{refusal(time.Hour)}
				if r := take(t, store, tb(key, 1)); r.Allowed {
					t.Fatal("the call is allowed")
				}
			}
			if n := store.Denied(); n > test.most || n < test.least {
				t.Errorf("DenyCache(%d): %d calls are remembered: want %d to %d", test.calls, n, test.least, test.most)
			}
		})
	}
}

func TestLongestRefusalsStay(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		server := &fake{replies: map[string][]any{}, runs: true}
		store := redislimit.NewOn(server, nil, redislimit.DenyCache(8))
		warm(t, store)
		for i, retry := range []time.Duration{9 * time.Second, 8 * time.Second, 30 * time.Second} {
			for j := range 8 {
				key := fmt.Sprintf("%d:%d", i, j)
				server.replies["rl:{"+key+"}:tb:1m"] = []any{refusal(retry)}
				take(t, store, tb(key, 1))
			}
		}
		server.count()
		for j := range 8 {
			take(t, store, tb(fmt.Sprintf("2:%d", j), 1))
		}
		if n := server.count(); n != 0 {
			t.Errorf("%d of the calls that are refused for longest were asked again", n)
		}
	})
}

// refusal is a reply to a take of one charge.
func refusal(retry time.Duration) []any {
	return []any{retry.Microseconds(), int64(0), retry.Microseconds(), int64(1)}
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

// What a process took in advance and gives back is there for others, also for those who have been refused for it.
func TestNobodyIsRefusedForUnitsThatLayElsewhere(t *testing.T) {
	server := miniredis.RunT(t)
	inStep(t, server, func(t *testing.T, client *redis.Client, _ func() int) {
		rule := ratelimit.Rule{
			Name: "1h", Key: "a", Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 5, Period: time.Hour}, Cost: 1, Prefetch: 5,
		}
		var limiters []*ratelimit.Limiter
		var guards []*ratelimit.Guard
		for range 2 {
			store := redislimit.New(client)
			warm(t, store)
			limiter, err := ratelimit.New(store)
			if err != nil {
				t.Fatal(err)
			}
			limiters, guards = append(limiters, limiter), append(guards, limiter.Guard("m", rule))
		}
		if err := guards[0].Allow(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := guards[1].Allow(t.Context()); !errors.Is(err, ratelimit.ErrLimited) {
			t.Fatalf("while all units lie elsewhere the error is %v", err)
		}
		if err := limiters[0].Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := guards[1].Allow(t.Context()); err != nil {
			t.Errorf("when they have come back the error is %v", err)
		}
		for _, l := range limiters {
			_ = l.Close(t.Context())
		}
	})
}

// Who gives back is followed by somebody who takes, however many are refused from memory meanwhile: no refusal of before
// outlives the refund. It is in real time, as it is about races.
func TestNobodyIsRefusedForAUnitThatIsBack(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr()})
	defer func() { _ = client.Close() }()
	store := redislimit.NewPatient(client)
	warm(t, store)
	charges := []ratelimit.Charge{{Key: []byte("a"), Name: "1h", Limit: ratelimit.Limit{Count: 1, Period: time.Hour}, Cost: 1}}
	var admitted, refused atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			results := make([]ratelimit.Result, 1)
			for admitted.Load() < 100 && t.Context().Err() == nil {
				if err := store.Take(t.Context(), charges, results); err != nil {
					t.Error(err)
					return
				}
				if !results[0].Allowed {
					refused.Add(1)
					runtime.Gosched()
					continue
				}
				admitted.Add(1)
				var err error
				if rand.IntN(2) == 0 {
					err = store.Refund(t.Context(), charges)
				} else {
					err = store.Reset(t.Context(), charges)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d calls were refused", refused.Load())
}

func TestRefusalFromMemoryAllocatesNothing(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		several := append(tb("several", 1), fw("several", 1)...)
		server := &fake{runs: true, replies: map[string][]any{
			"rl:{a}:tb:1m":       {refusal(time.Hour)},
			"rl:{several}:tb:1m": {append(refusal(time.Hour)[:3], int64(0), int64(4), int64(0), int64(1))},
		}}
		store := redislimit.NewOn(server, nil)
		warm(t, store)
		server.count()
		for _, charges := range [][]ratelimit.Charge{tb("a", 1), several} {
			results := make([]ratelimit.Result, len(charges))
			allocs := testing.AllocsPerRun(100, func() {
				if err := store.Take(t.Context(), charges, results); err != nil || results[0].Allowed {
					t.Fatalf("error %v, results %+v", err, results)
				}
			})
			if allocs != 0 {
				t.Errorf("%d limits: %v allocations", len(charges), allocs)
			}
		}
		if n := server.count(); n != 2 {
			t.Errorf("%d commands were sent: want 2", n)
		}
	})
}

// The refusals of an attack by one caller, and by as many as there is room for.
func BenchmarkDenied(b *testing.B) {
	for _, callers := range []int{1, 50_000} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			server := &fake{replies: map[string][]any{}, runs: true}
			store := redislimit.NewOn(server, nil, redislimit.Timeout(0))
			results := make([]ratelimit.Result, 1)
			for range 2 { // the server's clock is watched first
				if err := store.Take(b.Context(), tb("warm", 1), results); err != nil {
					b.Fatal(err)
				}
				time.Sleep(redislimit.SteadySpan)
			}
			attack := make([][]ratelimit.Charge, callers)
			for i := range attack {
				key := fmt.Sprintf("testGet:%d", i)
				server.replies["rl:{"+key+"}:tb:1m"] = []any{refusal(time.Hour)}
				attack[i] = tb(key, 1)
				if err := store.Take(b.Context(), attack[i], results); err != nil || results[0].Allowed {
					b.Fatalf("error %v, results %+v", err, results)
				}
			}
			server.count()
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				results, i := make([]ratelimit.Result, 1), rand.IntN(callers)
				for pb.Next() {
					if i++; i >= callers {
						i = 0
					}
					if err := store.Take(b.Context(), attack[i], results); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.ReportMetric(float64(server.count())/float64(b.N), "asked/op")
		})
	}
}
