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
	old := t.TempDir()
	script := "#!/bin/sh\necho Redis server v=5.0.14 sha=00000000:0 malloc=jemalloc-5.1.0 bits=64\n"
	if err := os.WriteFile(filepath.Join(old, "redis-server"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	none := t.TempDir()
	tests := []struct {
		path, server, ci string
		skipped, failed  bool
	}{
		{path: none, ci: "", skipped: true},
		{path: none, ci: "true", failed: true},
		{path: old, ci: "", skipped: true},
		{path: old, ci: "true", failed: true},
		{path: os.Getenv("PATH"), server: filepath.Join(none, "redis-server"), failed: true}, // the one in PATH will not do
		{path: os.Getenv("PATH"), server: filepath.Join(old, "redis-server"), failed: true},
	}
	for _, test := range tests {
		t.Setenv("PATH", test.path)
		t.Setenv("RATELIMIT_REDIS_SERVER", test.server)
		t.Setenv("CI", test.ci)
		inner := ends(t, func(t testing.TB) { redistest.Server(t) })
		if inner.skipped != test.skipped || inner.failed != test.failed {
			t.Errorf("PATH=%s server %q CI=%q: skipped %v, failed %v: want %v, %v",
				test.path, test.server, test.ci, inner.skipped, inner.failed, test.skipped, test.failed)
		}
	}
}

func TestSince(t *testing.T) {
	script := "#!/bin/sh\necho Valkey server v=8.1.1 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64\n"
	path := filepath.Join(t.TempDir(), "valkey-server")
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("RATELIMIT_REDIS_SERVER", path)
	for major, skipped := range map[int]bool{7: false, 8: false, 9: true} {
		inner := ends(t, func(t testing.TB) { redistest.Since(t, major, "what is new") })
		if inner.skipped != skipped || inner.failed {
			t.Errorf("since %d: skipped %v, failed %v: want %v, false", major, inner.skipped, inner.failed, skipped)
		}
	}
}

// ends returns how a test ended.
func ends(t *testing.T, test func(testing.TB)) *outcome {
	inner := &outcome{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(inner)
	}()
	<-done
	return inner
}

// outcome records how a test ended. Its methods end the goroutine, as those of a testing.T do.
type outcome struct {
	testing.TB
	skipped, failed bool
}

func (o *outcome) Skipf(string, ...any) { o.skipped = true; runtime.Goexit() }
func (o *outcome) Fatal(...any)         { o.failed = true; runtime.Goexit() }
