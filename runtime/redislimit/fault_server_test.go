package redislimit_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// outage is for how long a server is away in these tests: for several probes, and until it is told. Where all callers go in
// one exchange, five of these fail one after the other, which takes half a second, and then a second passes in wait for a
// cause. RATELIMIT_OUTAGE=1m makes it a minute.
var outage = func() time.Duration {
	d, err := time.ParseDuration(cmp.Or(os.Getenv("RATELIMIT_OUTAGE"), "2s"))
	if err != nil {
		panic(err)
	}
	return d
}()

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
	since int                               // the Redis that can be so, if not each
	// change makes the client another one than by default; nil if it is that.
	change func(*redis.Options)
}

var harms = []harm{
	{
		name:  "frozen",
		begin: func(_ context.Context, s site) error { s.server.Freeze(); return nil },
		end:   func(_ context.Context, s site) error { s.server.Thaw(); return nil },
		kinds: []redislimit.Kind{redislimit.KindTimeout},
	},
	{
		name:  "killed, and started again empty",
		begin: func(_ context.Context, s site) error { s.server.Kill(); return nil },
		end:   func(_ context.Context, s site) error { s.server.Restart(); return nil },
		kinds: []redislimit.Kind{redislimit.KindConnection, redislimit.KindTimeout}, // go-redis dials five times, with pauses
	},
	{
		name:  "paused by CLIENT PAUSE",
		begin: func(ctx context.Context, s site) error { return s.direct.ClientPause(ctx, outage).Err() },
		kinds: []redislimit.Kind{redislimit.KindTimeout},
	},
	{
		name: "busy with a script",
		begin: func(ctx context.Context, s site) error {
			if err := s.direct.ConfigSet(ctx, "lua-time-limit", "50").Err(); err != nil {
				return err
			}
			go s.direct.Eval(ctx, "while true do end", nil)
			return nil
		},
		end:   func(ctx context.Context, s site) error { return s.direct.ScriptKill(ctx).Err() },
		kinds: []redislimit.Kind{redislimit.KindTimeout, redislimit.KindBusy},
	},
	{
		name: "loading its data",
		begin: func(ctx context.Context, s site) error {
			const fill = "for i = 1, 20000 do redis.call('SET', 'data' .. i, i) end return 'full'"
			if err := s.direct.Eval(ctx, fill, nil).Err(); err != nil {
				return err
			}
			if err := s.direct.Save(ctx).Err(); err != nil {
				return err
			}
			s.server.Kill()
			s.server.Restart("--key-load-delay", "50", "--loading-process-events-interval-bytes", "1024")
			return nil
		},
		end: func(ctx context.Context, s site) error {
			for {
				info, err := s.direct.Info(ctx, "persistence").Result()
				if err != nil || strings.Contains(info, "\nloading:0\r\n") {
					return err
				}
				time.Sleep(10 * time.Millisecond)
			}
		},
		kinds: []redislimit.Kind{redislimit.KindTimeout, redislimit.KindConnection, redislimit.KindLoading},
		since: 7, // before, a server that loads answers once in 2 MB
	},
	{
		name:  "a replica for a while",
		begin: func(ctx context.Context, s site) error { return s.direct.ReplicaOf(ctx, "127.0.0.1", "1").Err() },
		end:   func(ctx context.Context, s site) error { return s.direct.ReplicaOf(ctx, "NO", "ONE").Err() },
		kinds: []redislimit.Kind{redislimit.KindTimeout, redislimit.KindReadOnly},
	},
	{
		name:  "out of memory",
		begin: func(ctx context.Context, s site) error { return s.direct.ConfigSet(ctx, "maxmemory", "1").Err() },
		end:   func(ctx context.Context, s site) error { return s.direct.ConfigSet(ctx, "maxmemory", "0").Err() },
		kinds: []redislimit.Kind{redislimit.KindTimeout, redislimit.KindMemory},
	},
	{
		name:  "200 ms away",
		begin: func(_ context.Context, s site) error { s.network.Delay(200 * time.Millisecond); return nil },
		end:   func(_ context.Context, s site) error { s.network.Forward(); return nil },
		kinds: []redislimit.Kind{redislimit.KindTimeout},
	},
	{
		name:  "behind connections that are half open",
		begin: func(_ context.Context, s site) error { s.network.Silence(); return nil },
		end:   func(_ context.Context, s site) error { s.network.Forward(); return nil },
		kinds: []redislimit.Kind{redislimit.KindTimeout},
		// For so long go-redis keeps them, and has no others: less than the outage, as the default is less than a long one.
		change: func(o *redis.Options) { o.ReadTimeout = time.Second },
	},
	{
		name:   "behind connections that are half open, of a client that goes by deadlines",
		begin:  func(_ context.Context, s site) error { s.network.Silence(); return nil },
		end:    func(_ context.Context, s site) error { s.network.Forward(); return nil },
		kinds:  []redislimit.Kind{redislimit.KindTimeout},
		change: func(o *redis.Options) { o.ContextTimeoutEnabled = true },
	},
	{
		name:  "behind connections that break",
		begin: func(_ context.Context, s site) error { s.network.Break(); return nil },
		end:   func(_ context.Context, s site) error { s.network.Forward(); return nil },
		kinds: []redislimit.Kind{redislimit.KindConnection, redislimit.KindTimeout},
	},
}

// S04, S16: whatever befalls the server, a decision keeps to its budget, on go-redis's defaults: it is taken off the path
// after a few failures, and decides again soon after it is back. Each call is charged once at most. One line tells that it
// is gone, and one that it is back.
func TestServerIsAway(t *testing.T) {
	if testing.Short() { // as under the race detector, to which the other faults are enough
		return
	}
	before := goleak.IgnoreCurrent()
	t.Run("harms", func(t *testing.T) { // each of a server of its own, which does little but be away
		for _, h := range harms {
			t.Run(h.name, func(t *testing.T) {
				t.Parallel()
				redistest.Since(t, h.since, h.name)
				intime(t, func() error { return isAway(t, h) })
			})
		}
	})
	eventually(t, func() error { return goleak.Find(before) }) // go-redis waits 5 s for a reply
}

// isAway harms a site, and returns an error if anything was late.
func isAway(t *testing.T, h harm) error {
	t.Helper()
	s := site{server: redistest.Start(t)}
	s.network = redistest.NewProxy(t, s.server.Addr())
	s.direct = redis.NewClient(s.server.Options())
	options := &redis.Options{Addr: s.network.Addr()}
	if h.change != nil {
		h.change(options)
	}
	client := redis.NewClient(options)
	defer func() { _, _ = client.Close(), s.direct.Close() }()
	var outages transitions
	store := redislimit.New(client, redislimit.OnOutage(outages.note))

	callers := underLoad(t, func(n int) error {
		return store.Take(t.Context(), fw(fmt.Sprint(n), 1), make([]ratelimit.Result, 1))
	})
	callers.answered(t, time.Now(), 10*loadCallers)
	began, late := time.Now(), lateness(outage)
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
		if told := outages.told(); len(told) < 2 || told[len(told)-1] {
			return fmt.Errorf("told %v of the server: want that it is down, and back", told)
		}
		return nil
	})
	callers.answered(t, time.Now(), 10*loadCallers)
	calls := callers.end()

	kinds := onlyKinds(t, calls, append(h.kinds, redislimit.KindOutage)...)
	asked, not := asked(between(calls, began, ended))
	machine := <-late
	t.Logf("errors %v; asked %d: p99 %v, most %v; not asked %d: p50 %v, p99 %v; decides %v after its return; the machine was late by %v",
		kinds, len(asked), percentile(asked, 99), percentile(asked, 100), len(not), percentile(not, 50), percentile(not, 99), returned, machine)
	chargedOnce(t, redislimit.NewPatient(s.direct), asked)
	most := budget + margin + machine
	switch p99, p50 := percentile(asked, 99), percentile(not, 50); {
	case p99 > most:
		return fmt.Errorf("of the calls for which the server was asked, p99 took %v: want %v at most", p99, most)
	case len(not) == 0 || p50 > time.Millisecond:
		return fmt.Errorf("%d calls found the server off the path, which took p50 %v: want many, and 1ms at most", len(not), p50)
	case returned > back:
		return fmt.Errorf("the server decides again %v after its return: want %v at most", returned, back)
	case !slices.Equal(outages.between(began, ended), []bool{true}):
		return fmt.Errorf("told %v of the server until its return: want once that it is down", outages.between(began, ended))
	}
	return nil
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
