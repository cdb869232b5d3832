package redislimit_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

const overridden = "users.Service.Get#1s"

// overrideEvents keeps what an Observer is told of overrides.
type overrideEvents struct {
	mu     sync.Mutex
	events []string
}

func (o *overrideEvents) Observe(_ context.Context, e *ratelimit.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case e.Kind != ratelimit.EventOverrides:
	case e.Gone:
		o.events = append(o.events, "gone")
	case e.Err == nil:
		o.events = append(o.events, "taken")
	default:
		o.events = append(o.events, e.Err.Error())
	}
}

func (o *overrideEvents) all() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.events)
}

// watcher returns a Limiter, as of one of several processes, that watches the overrides beside its buckets.
func watcher(t *testing.T, client redis.UniversalClient, observers ...ratelimit.Observer) *ratelimit.Limiter {
	t.Helper()
	store := redislimit.New(client)
	limiter, err := ratelimit.New(store, ratelimit.Observe(observers...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := limiter.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	limiter.Guard("users.Service.Get", ratelimit.Rule{
		Key: "get", Name: "1s", Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 2, Period: time.Hour},
	})
	if err := limiter.Watch(t.Context(), store.Overrides()); err != nil {
		t.Fatal(err)
	}
	return limiter
}

// holds waits until the limit has that count and mode in each of the processes.
func holds(t *testing.T, count int64, mode ratelimit.Mode, limiters ...*ratelimit.Limiter) {
	t.Helper()
	eventually(t, func() error {
		for _, l := range limiters {
			if r := l.Limits()[0].Holds; r.Limit.Count != count || r.Mode != mode {
				return fmt.Errorf("a count of %d holds, and mode %v: want %d and %v", r.Limit.Count, r.Mode, count, mode)
			}
		}
		return nil
	})
}

func TestOverridesAreShared(t *testing.T) {
	t.Parallel()
	for name, newClient := range map[string]func(testing.TB) *redis.Client{
		"redis":     redistest.Client,
		"miniredis": func(t testing.TB) *redis.Client { return clientOf(t, miniredis.RunT(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, ctx := newClient(t), t.Context()
			one, other := watcher(t, client), watcher(t, client)
			shared := redislimit.New(client).Overrides()
			set := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			o := &ratelimit.Override{
				Count: 5, Period: time.Minute, Mode: new(ratelimit.ModeShadow), Fail: ratelimit.FailOpen,
				Callers: []ratelimit.CallerOverride{{By: map[string]string{"user": `an"n`}, Count: 50}},
			}
			set(shared.Set(ctx, overridden, o))
			holds(t, 5, ratelimit.ModeShadow, one, other)
			set(shared.SetMode(ctx, new(ratelimit.ModeOff)))
			holds(t, 5, ratelimit.ModeOff, one, other)
			want := &ratelimit.Overrides{Mode: new(ratelimit.ModeOff), Limits: map[string]*ratelimit.Override{overridden: o}}
			if got, err := shared.Load(ctx); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("the hash says %+v, %v, want %+v", got, err, want)
			}
			if ttl := client.PTTL(ctx, "rl:overrides").Val(); ttl != -1 {
				t.Errorf("the hash lasts for %v: want for ever", ttl)
			}

			set(shared.SetMode(ctx, nil))
			set(shared.Set(ctx, overridden, nil))
			holds(t, 2, ratelimit.ModeEnforce, one, other)
			if n := client.DBSize(ctx).Val(); n != 0 {
				t.Errorf("%d keys are left, want none", n)
			}
		})
	}
}

// The hash lives on one of the nodes, by whichever prefix.
func overridesOfCluster(t *testing.T, client *redis.ClusterClient) {
	for _, prefix := range []string{"rl:", "a:", "b:", "{c}:", "d:"} {
		shared, ctx := redislimit.New(client, redislimit.Prefix(prefix)).Overrides(), t.Context()
		if err := shared.Set(ctx, overridden, &ratelimit.Override{Count: 5}); err != nil {
			t.Fatal(err)
		}
		if o, err := shared.Load(ctx); err != nil || o.Limits[overridden].Count != 5 {
			t.Errorf("%s: the hash says %+v, %v", prefix, o, err)
		}
		if err := shared.Set(ctx, overridden, nil); err != nil {
			t.Fatal(err)
		}
	}
}

func clientOf(t testing.TB, server *miniredis.Miniredis) *redis.Client {
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1, DialerRetries: 1})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// As documented for redis-cli.
func TestOverridesWrittenByHand(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	var told overrideEvents
	limiter := watcher(t, clientOf(t, server), &told)
	server.HSet("rl:overrides", overridden, `{"count":5,"time":"1m"}`, "mode", "shadow")
	holds(t, 5, ratelimit.ModeShadow, limiter)

	// A field that is none keeps all that was there before.
	server.HSet("rl:overrides", overridden, `{"count":6}`, "mode", "quiet", "a.B.C#1s", `{"cuont":1}`, "a.B.D", `{}`)
	broken := `redislimit: "rl:overrides", field "a.B.C#1s": there is no "cuont": want count, time, burst, mode or fail` + "\n" +
		`redislimit: "rl:overrides", field "mode": ratelimit: the mode is "quiet": want enforce, shadow or off`
	events := func(want ...string) {
		t.Helper()
		eventually(t, func() error {
			if got := told.all(); !slices.Equal(got, want) {
				return fmt.Errorf("told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			return nil
		})
	}
	events("taken", "taken", broken)
	holds(t, 5, ratelimit.ModeShadow, limiter)
	server.HDel("rl:overrides", "a.B.C#1s")
	server.HSet("rl:overrides", "mode", "off")
	noID := "ratelimit: override of a.B.D: want an id, such as users.Service.Get#1s"
	events("taken", "taken", broken, noID)
	server.HDel("rl:overrides", "a.B.D")
	holds(t, 6, ratelimit.ModeOff, limiter)
	server.HSet("rl:overrides", overridden, `{"burst":6}`)
	events("taken", "taken", broken, noID, "taken", "ratelimit: override of users.Service.Get#1s: burst is 6: fixed-window has no burst")
	holds(t, 6, ratelimit.ModeOff, limiter)
}

func TestOverridesOutlastAnOutage(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	var told overrideEvents
	server.HSet("rl:overrides", overridden, `{"count":5}`)
	limiter := watcher(t, clientOf(t, server), &told)
	server.Close()
	eventually(t, func() error {
		if n := len(told.all()); n < 2 {
			return fmt.Errorf("told of %d events, want the outage", n)
		}
		return nil
	})
	if got := told.all()[1]; !strings.HasPrefix(got, `redislimit: overrides "rl:overrides": `) {
		t.Errorf("told %q, want what reading the hash says", got)
	}
	holds(t, 5, ratelimit.ModeEnforce, limiter)
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if got := told.all(); got[len(got)-1] != "taken" {
			return fmt.Errorf("told %q, want that all is well again", got)
		}
		return nil
	})
	holds(t, 5, ratelimit.ModeEnforce, limiter)
}

// A server that keeps silent takes a second of whoever asks, whatever the timeouts of the client.
func TestOverridesOfASilentServer(t *testing.T) {
	t.Parallel()
	var came atomic.Int64
	client := redis.NewClient(&redis.Options{Addr: blackHole(t, &came), ReadTimeout: 2 * time.Second, MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	shared := redislimit.New(client).Overrides()
	began := time.Now()
	for range 2 { // the second waits for the first to end
		_, err := shared.Load(t.Context())
		const want = `redislimit: overrides "rl:overrides": no answer within 1s`
		if e, ok := errors.AsType[*redislimit.Error](err); !ok || e.Kind != redislimit.KindTimeout || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if took := time.Since(began); took < 2*time.Second || took > 4*time.Second {
		t.Errorf("took %v, want two seconds", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := shared.Load(ctx); !errors.Is(err, context.Canceled) || time.Since(began) > 4*time.Second {
		t.Errorf("a context that has ended: %v", err)
	}
}

func TestOverridesThatCannotBe(t *testing.T) {
	server, ctx := miniredis.RunT(t), t.Context()
	shared := redislimit.New(clientOf(t, server), redislimit.Prefix("shop:")).Overrides()
	unknown := ratelimit.Mode(7)
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"no id", shared.Set(ctx, "mode", &ratelimit.Override{}), `redislimit: override of "mode": want an id, such as users.Service.Get#1s`},
		{"a wrong value", shared.Set(ctx, overridden, &ratelimit.Override{Count: -1}), "redislimit: override of users.Service.Get#1s: count is -1: want an integer, 1 to 1000000000"},
		{"no text", shared.Set(ctx, overridden, &ratelimit.Override{Period: 1500}), "redislimit: override of users.Service.Get#1s: time is 1.5µs: want whole milliseconds, 1ms to 366d, to write it"},
		{"no callers", shared.Set(ctx, overridden, &ratelimit.Override{Callers: make([]ratelimit.CallerOverride, 1)}), "redislimit: override of users.Service.Get#1s: callers 1: by is null: want attributes of the caller, such as {\"user\":\"ann\"}"},
		{"no mode", shared.SetMode(ctx, &unknown), "ratelimit: the mode is Mode(7): want ModeEnforce, ModeShadow or ModeOff"},
		{"no client", redislimit.New(nil).Overrides().SetMode(ctx, nil), `redislimit: overrides "rl:overrides": misconfigured: no client`},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", test.name, test.err, test.want)
		}
	}
	if keys := server.Keys(); len(keys) > 0 {
		t.Errorf("something was written: %v", keys)
	}
	if err := server.Set("shop:overrides", "foreign"); err != nil {
		t.Fatal(err)
	}
	_, err := shared.Load(ctx)
	if e, ok := errors.AsType[*redislimit.Error](err); !ok || e.Kind != redislimit.KindForeign || !strings.HasPrefix(err.Error(), `redislimit: overrides "shop:overrides": WRONGTYPE`) {
		t.Errorf("a key of another type: %v", err)
	}
}
