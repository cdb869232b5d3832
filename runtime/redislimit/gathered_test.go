package redislimit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// gate is a hook that holds up commands until it is opened.
type gate struct{ opened chan struct{} }

func (g gate) DialHook(next redis.DialHook) redis.DialHook { return next }
func (g gate) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (g gate) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		<-g.opened
		return next(ctx, cmd)
	}
}

// together makes calls that go together, and returns when all have been answered: they wait behind others, for keys that
// begin with "before".
func together(t *testing.T, client *redis.Client, store *redislimit.Store, calls int, call func(i int)) {
	t.Helper()
	store.Near()
	g := gate{make(chan struct{})}
	client.AddHook(g)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(g.opened)
	for i := range redislimit.MaxFlights {
		wg.Go(func() {
			if _, err := takeOne(t.Context(), store, fmt.Sprint("before-", i)); err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, func() error {
		if n := store.UnderWay(); n != redislimit.MaxFlights {
			return fmt.Errorf("%d exchanges are under way", n)
		}
		return nil
	})
	for i := range calls {
		wg.Go(func() { call(i) })
		eventually(t, func() error {
			if n := store.Waiting(); n != i+1 {
				return fmt.Errorf("%d calls wait: want %d", n, i+1)
			}
			return nil
		})
	}
}

// Calls of all algorithms, for one and for several limits, are decided together as they would be one after the other. A
// bucket that cannot be read is an error of those who ask for it, and of nobody else.
func TestBatchOfAllAlgorithms(t *testing.T) {
	servers(t, func(t *testing.T, client *redis.Client) {
		store := redislimit.NewPatient(client)
		if err := client.RPush(t.Context(), "rl:{foreign}:tb:1m", "of another program").Err(); err != nil {
			t.Fatal(err)
		}
		asked := [][]ratelimit.Charge{
			tb("a", 1), fw("a", 1), sl("a", 1), sw("a", 1), lb("a", 1), cc("a", 1, "one"),
			tb("foreign", 1),
			tb("a", 1), fw("a", 2), sl("a", 1), sw("a", 1), lb("a", 6), cc("a", 1, "two"), cc("a", 4, "three"),
			slices.Concat(tb("a", 1), fw("b", 5)), slices.Concat(tb("a", 1), fw("b", 1)), slices.Concat(tb("a", 1), tb("foreign", 1)),
			tb("a", 3), tb("a", 2), tb("b", 0),
		}
		const fails = "WRONGTYPE"
		wants := []string{
			"true 4", "true 4", "true 4", "true 4", "true 4", "true 4",
			fails,
			"true 3", "true 2", "true 3", "true 3", "false 4", "true 3", "false 3",
			"true 2, true 0", "true 2, false 0", fails,
			"false 2", "true 0", "true 5",
		}
		got := make([]string, len(asked))
		together(t, client, store, len(asked), func(i int) {
			results := make([]ratelimit.Result, len(asked[i]))
			if err := store.Take(t.Context(), asked[i], results); err != nil {
				got[i] = fails
				if kindOf(err) != redislimit.KindForeign && !errors.Is(err, context.Canceled) {
					got[i] = err.Error()
				}
				return
			}
			for j, r := range results {
				if j > 0 {
					got[i] += ", "
				}
				got[i] += fmt.Sprintf("%t %d", r.Allowed, r.Remaining)
			}
		})
		for i, want := range wants {
			if got[i] != want {
				t.Errorf("call %d of %v: %s: want %s", i, asked[i], got[i], want)
			}
		}
		if text, err := client.LRange(t.Context(), "rl:{foreign}:tb:1m", 0, -1).Result(); err != nil || !slices.Equal(text, []string{"of another program"}) {
			t.Errorf("the foreign value is %q, error %v", text, err)
		}
	})
}

// However many calls of a process meet in a bucket at the same time, exactly as many as it has room for are admitted, and
// each of those finds one unit less.
func TestHotKeyOfOneProcess(t *testing.T) {
	const callers, calls, count = 64, 20, 500
	client := redistest.Client(t)
	for _, limit := range ofEach(count, time.Hour) {
		store := redislimit.NewPatient(client)
		var mu sync.Mutex
		var left []int64
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				c := ratelimit.Charge{Key: []byte("hot"), Name: "1h", Limit: limit, Cost: 1}
				results := make([]ratelimit.Result, 1)
				for j := range calls {
					if limit.Algorithm == ratelimit.Concurrency {
						c.Holder = fmt.Sprintf("%d:%d", i, j)
					}
					if err := store.Take(t.Context(), []ratelimit.Charge{c}, results); err != nil {
						t.Error(err)
					}
					if results[0].Allowed {
						mu.Lock()
						left = append(left, results[0].Remaining)
						mu.Unlock()
					}
				}
			})
		}
		wg.Wait()
		slices.Sort(left)
		if n := len(slices.Compact(left)); len(left) != count || n != count {
			t.Errorf("%v: %d of %d calls were admitted, %d of them with different remains: want %d", limit.Algorithm, len(left), callers*calls, n, count)
		}
	}
}

// A reply that is lost charges each of its calls once, with each algorithm, also of calls that are one ask.
func TestLostReplyOfManyCalls(t *testing.T) {
	const rounds, callers = 10, 32
	proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
	client := redis.NewClient(&redis.Options{Addr: proxy.Addr()})
	defer func() { _ = client.Close() }()
	store := redislimit.NewPatient(client)
	for _, limit := range ofEach(2000, 366*24*time.Hour) { // a unit comes back after four hours at the earliest
		charge := ratelimit.Charge{Key: []byte("a"), Name: "366d", Limit: limit, Cost: 1, Holder: "first"}
		take(t, store, []ratelimit.Charge{charge})
		failed := 0
		for round := range rounds {
			proxy.Lose("evalsha")
			errs := make([]error, callers)
			var wg sync.WaitGroup
			for i := range callers {
				wg.Go(func() {
					c := charge
					if limit.Algorithm == ratelimit.Concurrency {
						c.Holder = fmt.Sprintf("%d:%d", round, i)
					}
					errs[i] = store.Take(t.Context(), []ratelimit.Charge{c}, make([]ratelimit.Result, 1))
				})
			}
			wg.Wait()
			proxy.Forward()
			for _, err := range errs {
				switch kindOf(err) {
				case redislimit.KindConnection:
					failed++
				case redislimit.KindOutage: // it was not asked
				default:
					t.Fatalf("%v: error %v: want a connection that broke", limit.Algorithm, err)
				}
			}
			results := make([]ratelimit.Result, 1)
			eventually(t, func() error { return store.Peek(t.Context(), []ratelimit.Charge{charge}, results) })
			if want := limit.Count - 1 - int64(failed); results[0].Remaining != want {
				t.Fatalf("%v: after %d calls whose reply was lost %d remain: want %d", limit.Algorithm, failed, results[0].Remaining, want)
			}
		}
		if failed == 0 {
			t.Errorf("%v: no reply was lost: the test shows nothing", limit.Algorithm)
		}
	}
}

// P09: no call waits for more than those that were there before it, however far away the server is.
func TestNoLockIsHeldDuringACall(t *testing.T) {
	const callers, delay, most = 20, 50 * time.Millisecond, 150 * time.Millisecond
	proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
	client := redis.NewClient(&redis.Options{Addr: proxy.Addr()})
	defer func() { _ = client.Close() }()
	store := redislimit.NewPatient(client)
	take(t, store, tb("a", 1))
	proxy.Delay(delay)
	intime(t, func() error {
		var wg sync.WaitGroup
		start := time.Now()
		for range callers {
			wg.Go(func() {
				if _, err := takeOne(t.Context(), store, "a"); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(start); took > most {
			return fmt.Errorf("%d calls took %v: want %v at most", callers, took, most)
		}
		return nil
	})
}

// S13, S15: where the client ends its waits a lone call makes no detour, and ends in time all the same.
func TestLoneCallOfAClientThatEndsItsWaits(t *testing.T) {
	const ms = time.Millisecond
	server := redistest.Start(t)
	options := server.Options()
	options.ContextTimeoutEnabled = true
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	type ending func(context.Context) (context.Context, context.CancelFunc)
	within := func(d time.Duration) ending {
		return func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, d) }
	}
	canceled := func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(20*ms, cancel)
		return ctx, cancel
	}
	tests := []struct {
		name  string
		ctx   ending
		takes time.Duration
		most  time.Duration
		text  string
	}{
		{"nobody ends it", context.WithCancel, 100 * ms, 100 * ms, "no answer within 100ms"},
		{"a deadline", within(40 * ms), 40 * ms, 40 * ms, "context deadline exceeded"},
		{"a later deadline", within(time.Hour), 100 * ms, 100 * ms, "no answer within 100ms"},
		{"canceled, which it hears at the end of its budget", canceled, 20 * ms, 100 * ms, "context canceled"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			intime(t, func() error {
				store := redislimit.New(client, redislimit.DenyCache(0)) // which would answer for the server
				server.Thaw()
				eventually(t, func() error { _, err := takeOne(t.Context(), store, "a"); return err })
				server.Freeze()
				defer server.Thaw()
				late := lateness(200 * ms)
				ctx, cancel := test.ctx(t.Context())
				defer cancel()
				took, err := takeOne(ctx, store, "a")
				if want := `redislimit: take "rl:{a}:tb:1m": ` + test.text; err == nil || err.Error() != want {
					t.Errorf("error %v: want %s", err, want)
				}
				if most := test.most + margin + <-late; took < test.takes || took > most {
					return fmt.Errorf("took %v: want %v to %v", took, test.takes, most)
				}
				return nil
			})
		})
	}
}

// What one call's bucket is trusted to have been charged in advance, as its time is from a clock that was set back, another's
// is not: it has more out than it holds since its capacity was lowered.
func TestBucketsOfABatchAreTrustedOneByOne(t *testing.T) {
	servers(t, func(t *testing.T, client *redis.Client) {
		store := redislimit.NewPatient(client)
		now, err := client.Time(t.Context()).Result()
		if err != nil {
			t.Fatal(err)
		}
		for key, mark := range map[string]time.Time{"a": now.Add(time.Hour), "b": now} {
			state := fmt.Sprintf("7 %d 0", mark.UnixMicro())
			if err := client.Set(t.Context(), "rl:{"+key+"}:tb:1m", state, time.Hour).Err(); err != nil {
				t.Fatal(err)
			}
		}
		results := make([]ratelimit.Result, 2)
		together(t, client, store, 2, func(i int) {
			if err := store.Take(t.Context(), tb([]string{"a", "b"}[i], 1), results[i:i+1]); err != nil {
				t.Error(err)
			}
		})
		for i, r := range results {
			if r.Allowed || r.RetryAfter > 12*time.Second { // a fifth of the period
				t.Errorf("call %d: %+v: want it refused for 12 seconds at most", i, r)
			}
		}
		if state := client.Get(t.Context(), "rl:{a}:tb:1m").Val(); !strings.HasPrefix(state, "7 ") {
			t.Errorf("the state from the future is now %q: want all that was charged in advance", state)
		}
	})
}
