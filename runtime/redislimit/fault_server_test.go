package redislimit_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// outage is for how long a server is away in these tests: for several probes.
const outage = 1500 * time.Millisecond

// site is a server, and a network on the way to it.
type site struct {
	server  *redistest.Instance
	network *redistest.Proxy
	direct  *redis.Client // past the network
}

// harm is what befalls a site.
type harm struct {
	name  string
	begin func(context.Context, site) error
	end   func(context.Context, site) error // nil if it ends by itself
	kinds []redislimit.Kind                 // of errors meanwhile, beside KindOutage
}

var harms = []harm{
	{
		"frozen",
		func(_ context.Context, s site) error { s.server.Freeze(); return nil },
		func(_ context.Context, s site) error { s.server.Thaw(); return nil },
		[]redislimit.Kind{redislimit.KindTimeout},
	},
	{
		"killed, and started again empty",
		func(_ context.Context, s site) error { s.server.Kill(); return nil },
		func(_ context.Context, s site) error { s.server.Restart(); return nil },
		[]redislimit.Kind{redislimit.KindConnection},
	},
	{
		"paused by CLIENT PAUSE",
		func(ctx context.Context, s site) error { return s.direct.ClientPause(ctx, outage).Err() },
		nil,
		[]redislimit.Kind{redislimit.KindTimeout},
	},
	{
		"busy with a script",
		func(ctx context.Context, s site) error {
			if err := s.direct.ConfigSet(ctx, "lua-time-limit", "50").Err(); err != nil {
				return err
			}
			go s.direct.Eval(ctx, "while true do end", nil)
			return nil
		},
		func(ctx context.Context, s site) error { return s.direct.ScriptKill(ctx).Err() },
		[]redislimit.Kind{redislimit.KindTimeout, redislimit.KindBusy},
	},
	{
		"200 ms away",
		func(_ context.Context, s site) error { s.network.Delay(200 * time.Millisecond); return nil },
		func(_ context.Context, s site) error { s.network.Forward(); return nil },
		[]redislimit.Kind{redislimit.KindTimeout},
	},
	{
		"behind connections that are half open",
		func(_ context.Context, s site) error { s.network.Silence(); return nil },
		func(_ context.Context, s site) error { s.network.Forward(); return nil },
		[]redislimit.Kind{redislimit.KindTimeout},
	},
	{
		"behind connections that break",
		func(_ context.Context, s site) error { s.network.Break(); return nil },
		func(_ context.Context, s site) error { s.network.Forward(); return nil },
		[]redislimit.Kind{redislimit.KindConnection},
	},
}

// Whatever befalls the server, a decision keeps to its budget, on go-redis's defaults: it is taken off the path after a few
// failures, and decides again soon after it is back. Each call is charged once at most. One line tells that it is gone, and
// one that it is back.
func TestServerIsAway(t *testing.T) {
	for _, h := range harms {
		t.Run(h.name, func(t *testing.T) {
			for attempt := 1; ; attempt++ {
				p99 := isAway(t, h)
				if p99 <= budget+margin || t.Failed() {
					return
				}
				if attempt == attemptsAtTime {
					t.Fatalf("of the calls for which the server was asked, p99 took %v: want %v at most", p99, budget+margin)
				}
			}
		})
	}
}

// isAway harms a site and returns what the calls took for which it was asked meanwhile, at the 99th percentile.
func isAway(t *testing.T, h harm) time.Duration {
	t.Helper()
	s := site{server: redistest.Start(t)}
	s.network = redistest.NewProxy(t, s.server.Addr())
	s.direct = redis.NewClient(s.server.Options())
	client := redis.NewClient(&redis.Options{Addr: s.network.Addr()})
	defer func() { _, _ = client.Close(), s.direct.Close() }()
	var outages transitions
	store := redislimit.New(client, redislimit.OnOutage(outages.note))
	before := runtime.NumGoroutine()

	callers := underLoad(func(n int) error {
		return store.Take(t.Context(), fw(fmt.Sprint(n), 1), make([]ratelimit.Result, 1))
	})
	callers.answered(t, time.Now(), 10*loadCallers)
	began := time.Now()
	if err := h.begin(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	time.Sleep(outage)
	if h.end != nil {
		if err := h.end(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	ended := time.Now()
	returned := callers.answered(t, ended, 1)
	eventually(t, func() error {
		if told := outages.told(); len(told) < 2 {
			return fmt.Errorf("told %v of the server: want that it is down, and back", told)
		}
		return nil
	})
	callers.answered(t, time.Now(), 10*loadCallers)
	calls := callers.end()

	during := between(calls, began, ended)
	kinds := onlyKinds(t, calls, append(h.kinds, redislimit.KindOutage)...)
	asked, not := asked(during)
	t.Logf("%d calls, errors %v; asked %d: p99 %v, most %v; not asked %d: p50 %v, p99 %v; decides %v after its return",
		len(during), kinds, len(asked), percentile(asked, 99), percentile(asked, 100), len(not), percentile(not, 50), percentile(not, 99), returned)
	if returned > back {
		t.Errorf("the server decides again %v after its return: want %v at most", returned, back)
	}
	if p50 := percentile(not, 50); len(not) == 0 || p50 > time.Millisecond {
		t.Errorf("%d calls found the server off the path, which took p50 %v: want many, and 1ms at most", len(not), p50)
	}
	if told := outages.told(); !slices.Equal(told, []bool{true, false}) {
		t.Errorf("told %v of the server: want that it was down, and back, once", told)
	}
	chargedOnce(t, redislimit.New(s.direct), asked)
	eventually(t, func() error { // go-redis waits 3 s for a reply
		if after := runtime.NumGoroutine(); after > before+10 {
			return fmt.Errorf("%d goroutines: want the %d of before, and 10 at most", after, before)
		}
		return nil
	})
	return percentile(asked, 99)
}

// chargedOnce checks that each of some calls, which have a bucket each, was charged once at most.
func chargedOnce(t *testing.T, store *redislimit.Store, calls []called) {
	t.Helper()
	results := make([]ratelimit.Result, 1)
	for _, c := range calls {
		if err := store.Peek(t.Context(), fw(fmt.Sprint(c.n), 1), results); err != nil {
			t.Fatal(err)
		}
		if results[0].Remaining < 4 {
			t.Errorf("call %d, error %v: %d of 5 remain: want 4 at least", c.n, c.err, results[0].Remaining)
		}
	}
}
