package redistest_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
)

func TestServersAreEmptyAndApart(t *testing.T) {
	first, second := redistest.Client(t), redistest.Client(t)
	if err := first.Set(t.Context(), "key", "value", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if n, err := second.DBSize(t.Context()).Result(); n != 0 || err != nil {
		t.Errorf("the second server holds %d keys, error %v: want none", n, err)
	}
}

func TestServerEndsWithItsTest(t *testing.T) {
	var addr string
	t.Run("uses a server", func(t *testing.T) { addr = redistest.Server(t).Addr })
	if addr == "" {
		return // skipped, and it said why
	}
	if conn, err := net.Dial("tcp", addr); err == nil {
		_ = conn.Close()
		t.Errorf("a server still listens on %s", addr)
	}
}

func TestCluster(t *testing.T) {
	client := redis.NewClusterClient(redistest.Cluster(t))
	defer func() { _ = client.Close() }()
	const keys = 300
	for i := range keys {
		if err := client.Set(t.Context(), strconv.Itoa(i), "value", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	var servers, total atomic.Int64
	err := client.ForEachMaster(t.Context(), func(ctx context.Context, node *redis.Client) error {
		n, err := node.DBSize(ctx).Result()
		if n > 0 {
			servers.Add(1)
		}
		total.Add(n)
		return err
	})
	if servers.Load() != 3 || total.Load() != keys || err != nil {
		t.Errorf("%d nodes hold %d keys, error %v: want 3 and %d", servers.Load(), total.Load(), err, keys)
	}
}

func TestMissingServer(t *testing.T) {
	t.Setenv("RATELIMIT_REDIS_SERVER", "")
	old := t.TempDir()
	script := "#!/bin/sh\necho Redis server v=5.0.14 sha=00000000:0 malloc=jemalloc-5.1.0 bits=64\n"
	if err := os.WriteFile(filepath.Join(old, "redis-server"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		path, ci        string
		skipped, failed bool
	}{
		{path: t.TempDir(), ci: "", skipped: true},
		{path: t.TempDir(), ci: "true", failed: true},
		{path: old, ci: "", skipped: true},
		{path: old, ci: "true", failed: true},
	}
	for _, test := range tests {
		t.Setenv("PATH", test.path)
		t.Setenv("CI", test.ci)
		inner := &outcome{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			redistest.Server(inner)
		}()
		<-done
		if inner.skipped != test.skipped || inner.failed != test.failed {
			t.Errorf("PATH=%s CI=%q: skipped %v, failed %v: want %v, %v", test.path, test.ci, inner.skipped, inner.failed, test.skipped, test.failed)
		}
	}
}

// outcome records how a test ended. Its methods end the goroutine, as those of a testing.T do.
type outcome struct {
	testing.TB
	skipped, failed bool
}

func (o *outcome) Skipf(string, ...any) { o.skipped = true; runtime.Goexit() }
func (o *outcome) Fatal(...any)         { o.failed = true; runtime.Goexit() }
