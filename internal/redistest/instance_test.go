package redistest_test

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
)

// soon is in how little time a server must be silent to be taken for frozen.
const soon = 200 * time.Millisecond

// client returns one that sends each command once, and waits a second for a reply, or less if its context says so.
func client(t *testing.T, addr string) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, ContextTimeoutEnabled: true, ReadTimeout: time.Second})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// silent checks that a server takes connections and does not answer on them.
func silent(t *testing.T, addr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	var timeout net.Error
	if err := client(t, addr).Ping(ctx).Err(); !errors.As(err, &timeout) || !timeout.Timeout() { // as is that of a context
		t.Errorf("ping: error %v: want no answer in time", err)
	}
}

func TestFrozenServer(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	c := client(t, server.Addr())
	if err := c.Set(t.Context(), "key", "value", 0).Err(); err != nil {
		t.Fatal(err)
	}
	server.Freeze()
	silent(t, server.Addr())
	server.Thaw()
	if value, err := c.Get(t.Context(), "key").Result(); value != "value" || err != nil {
		t.Errorf("thawed: key is %q, error %v: want value", value, err)
	}
}

func TestKilledServer(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	c := client(t, server.Addr())
	if err := c.Set(t.Context(), "key", "value", 0).Err(); err != nil {
		t.Fatal(err)
	}
	server.Freeze() // one that cannot end by itself
	server.Kill()
	server.Kill()
	if err := c.Ping(t.Context()).Err(); err == nil {
		t.Error("the connection is still there")
	}
	if err := client(t, server.Addr()).Ping(t.Context()).Err(); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a new connection: error %v: want it refused", err)
	}
	server.Restart()
	if n, err := client(t, server.Addr()).DBSize(t.Context()).Result(); n != 0 || err != nil {
		t.Errorf("started again, it has %d keys, error %v: want none", n, err)
	}
}
