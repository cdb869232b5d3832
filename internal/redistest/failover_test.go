package redistest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
)

// eventually repeats something until it succeeds.
func eventually(t *testing.T, do func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		err := do(ctx)
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestReplicaOfAKilledMasterTakesOver(t *testing.T) {
	t.Parallel()
	nodes := redistest.Replicated(t)
	c := redis.NewClusterClient(nodes.Options())
	defer func() { _ = c.Close() }()
	const keys = 30
	for i := range keys {
		if err := c.Set(t.Context(), fmt.Sprint(i), i, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for i, replica := range nodes.Replicas { // it may take a moment
		master := client(t, nodes.Masters[i].Addr())
		eventually(t, func(ctx context.Context) error {
			has, want := client(t, replica.Addr()).DBSize(ctx).Val(), master.DBSize(ctx).Val()
			if has != want || want == 0 {
				return fmt.Errorf("the replica of master %d has %d keys of %d", i, has, want)
			}
			return nil
		})
	}
	nodes.Masters[1].Kill()
	start := time.Now()
	eventually(t, func(ctx context.Context) error {
		for i := range keys {
			if n, err := c.Get(ctx, fmt.Sprint(i)).Int(); err != nil || n != i {
				c.ReloadState(ctx) // or the client would look for the new master once a minute
				return fmt.Errorf("key %d: %d, error %w", i, n, err)
			}
		}
		return nil
	})
	t.Logf("taken over after %v", time.Since(start))
}

func TestSlotMovesWithItsKeys(t *testing.T) {
	t.Parallel()
	nodes := redistest.Replicated(t)
	c := redis.NewClusterClient(nodes.Options())
	defer func() { _ = c.Close() }()
	const keys = 25
	for i := range keys {
		if err := c.Set(t.Context(), fmt.Sprintf("{a}%d", i), i, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	slot := int(c.ClusterKeySlot(t.Context(), "a").Val())
	from, err := c.MasterForKey(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	source, target := nodes.Masters[0], nodes.Masters[1]
	for i, master := range nodes.Masters {
		if master.Addr() == from.Options().Addr {
			source, target = master, nodes.Masters[(i+1)%len(nodes.Masters)]
		}
	}
	if err := nodes.Move(t.Context(), slot, source, target); err != nil {
		t.Fatal(err)
	}
	for i := range keys {
		if n, err := client(t, target.Addr()).Get(t.Context(), fmt.Sprintf("{a}%d", i)).Int(); n != i || err != nil {
			t.Errorf("key %d: %d, error %v", i, n, err)
		}
	}
	if err := nodes.Move(t.Context(), slot, source, target); err == nil {
		t.Error("a slot that its master no longer has was moved again")
	}
}

func TestSentinel(t *testing.T) {
	t.Parallel()
	servers := redistest.Sentinel(t)
	c := redis.NewFailoverClient(servers.Options())
	defer func() { _ = c.Close() }()
	if err := c.Set(t.Context(), "key", "value", 0).Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error { return client(t, servers.Replica.Addr()).Get(ctx, "key").Err() })
	servers.Master.Kill()
	start := time.Now()
	eventually(t, func(ctx context.Context) error { return c.Set(ctx, "key", "another", 0).Err() })
	t.Logf("taken over after %v", time.Since(start))
	if value := client(t, servers.Replica.Addr()).Get(t.Context(), "key").Val(); value != "another" {
		t.Errorf("the replica has %q: want another", value)
	}
}
