package redislimit_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// ringOf returns a Ring of two servers that soon takes one for dead, and the one where the hash of overrides lives first.
func ringOf(t *testing.T) (ring *redis.Ring, home, other *miniredis.Miniredis) {
	t.Helper()
	home, other = miniredis.RunT(t), miniredis.RunT(t)
	ring = redis.NewRing(&redis.RingOptions{
		Addrs: map[string]string{"one": home.Addr(), "two": other.Addr()}, HeartbeatFrequency: 10 * time.Millisecond,
		MaxRetries: -1, DialerRetries: 1,
	})
	t.Cleanup(func() { _ = ring.Close() })
	shard, err := ring.GetShardClientForKey("rl:overrides")
	if err != nil {
		t.Fatal(err)
	}
	if shard.Options().Addr != home.Addr() {
		home, other = other, home
	}
	return ring, home, other
}

func shardsUp(t *testing.T, ring *redis.Ring, want int) {
	t.Helper()
	eventually(t, func() error {
		if n := len(ring.GetShardClients()); n != want {
			return fmt.Errorf("the Ring has %d servers, want %d", n, want)
		}
		return nil
	})
}

// A Ring looks for the hash on another server when the one that has it is away: nothing is there, but nothing was deleted.
func TestOverridesOfARingThatLosesAServer(t *testing.T) {
	t.Parallel()
	ring, home, other := ringOf(t)
	store, ctx := redislimit.New(ring), t.Context()
	shared := store.Overrides()
	if err := shared.Set(ctx, overridden, &ratelimit.Override{Count: 5}); err != nil {
		t.Fatal(err)
	}
	var told overrideEvents
	limiter := watcher(t, ring, &told)
	addr := home.Addr()
	home.Close()
	shardsUp(t, ring, 1)
	eventually(t, func() error {
		if n := len(told.all()); n < 2 {
			return fmt.Errorf("told of %d events, want that the server is away", n)
		}
		return nil
	})
	if got := told.all()[1]; !strings.Contains(got, addr) || !strings.HasSuffix(got, "connection refused") {
		t.Errorf("told %q, want which server is away", got)
	}
	holds(t, 5, ratelimit.ModeEnforce, limiter)
	e, ok := errors.AsType[*redislimit.Error](shared.Set(ctx, overridden, &ratelimit.Override{Count: 6}))
	if !ok || e.Kind != redislimit.KindConnection || len(other.Keys()) > 0 {
		t.Errorf("written while a server is away: %v, %v", e, other.Keys())
	}

	if err := home.Restart(); err != nil {
		t.Fatal(err)
	}
	shardsUp(t, ring, 2)
	if err := shared.Set(ctx, overridden, &ratelimit.Override{Count: 6}); err != nil {
		t.Fatal(err)
	}
	holds(t, 6, ratelimit.ModeEnforce, limiter)

	// One that is not of the Ring any more is not waited for.
	home.Close()
	member := func(want bool) {
		t.Helper()
		if members, err := store.Members(ctx); err != nil || slices.Contains(members, addr) != want || !slices.Contains(members, other.Addr()) {
			t.Errorf("the servers that have keys are %q, %v: whether %s is among them should be %v", members, err, addr, want)
		}
	}
	member(true)
	ring.SetAddrs(map[string]string{"two": other.Addr()})
	member(false)
	holds(t, 2, ratelimit.ModeEnforce, limiter)
	if got := told.all(); slices.Contains(got, "redis: client is closed") || got[len(got)-1] != "gone" {
		t.Errorf("told %q, want that what was on that server is gone", got)
	}
}

// Wherever somebody has written a field, there is one value of it.
func TestOverridesOnSeveralServersOfARing(t *testing.T) {
	t.Parallel()
	ring, home, other := ringOf(t)
	shared, ctx := redislimit.New(ring).Overrides(), t.Context()
	other.HSet("rl:overrides", overridden, `{"count":5}`)
	home.HSet("rl:overrides", "mode", "shadow")
	load := func() *ratelimit.Overrides {
		t.Helper()
		o, err := shared.Load(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	if o := load(); o.Limits[overridden].Count != 5 || *o.Mode != ratelimit.ModeShadow {
		t.Errorf("the hashes say %+v", o)
	}
	if err := shared.Set(ctx, overridden, &ratelimit.Override{Count: 6}); err != nil {
		t.Fatal(err)
	}
	if load().Limits[overridden].Count != 6 || home.HGet("rl:overrides", overridden) != "" {
		t.Errorf("not written where the field is: %q", home.HGet("rl:overrides", overridden))
	}

	home.HSet("rl:overrides", overridden, `{"count":7}`)
	_, err := shared.Load(ctx)
	if _, ok := errors.AsType[*ratelimit.OverridesError](err); !ok || !strings.HasSuffix(err.Error(), ": set it anew") {
		t.Errorf("two values: %v", err)
	}
	if err := shared.Set(ctx, overridden, &ratelimit.Override{Count: 8}); err != nil {
		t.Fatal(err)
	}
	if n := load().Limits[overridden].Count; n != 8 {
		t.Errorf("the hashes say %d, want 8", n)
	}
	for _, err := range []error{shared.Set(ctx, overridden, nil), shared.SetMode(ctx, nil)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if keys := append(home.Keys(), other.Keys()...); len(keys) > 0 {
		t.Errorf("%v are left", keys)
	}
	_ = ring.Close()
	if _, err := shared.Load(ctx); err == nil || err.Error() != `redislimit: overrides "rl:overrides": redis: client is closed` {
		t.Errorf("a Ring that is closed: %v", err)
	}
}
