package redistest_test

import (
	"testing"
	"time"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
)

func TestProxy(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr())
	direct := client(t, server.Addr())
	value := func() string { return direct.Get(t.Context(), "counter").Val() }
	through := client(t, proxy.Addr())

	if n, err := through.Incr(t.Context(), "counter").Result(); n != 1 || err != nil {
		t.Fatalf("at first: %d, error %v: want 1", n, err)
	}

	proxy.Lose("incr")
	if err := through.Incr(t.Context(), "counter").Err(); err == nil || value() != "2" || proxy.Lost() != 1 {
		t.Errorf("a reply is lost: error %v, the counter is %s, %d lost: want an error, 2, and 1", err, value(), proxy.Lost())
	}
	if err := through.Get(t.Context(), "counter").Err(); err != nil {
		t.Errorf("another command: error %v", err)
	}
	proxy.Lose("evalsha")
	if err := through.EvalSha(t.Context(), "0000000000000000000000000000000000000000", nil).Err(); err == nil || proxy.Lost() != 1 {
		t.Errorf("an unknown script: error %v, %d lost: want the server's, and no more than before", err, proxy.Lost())
	}
	if n, err := through.Eval(t.Context(), "return 7", nil).Int(); n != 7 || err != nil {
		t.Errorf("the script afterwards: %d, error %v: want 7", n, err)
	}

	proxy.Delay(50 * time.Millisecond)
	start := time.Now()
	if err := through.Incr(t.Context(), "counter").Err(); err != nil || time.Since(start) < 50*time.Millisecond {
		t.Errorf("late: error %v after %v: want 50ms at least", err, time.Since(start))
	}

	proxy.Break()
	if err := through.Incr(t.Context(), "counter").Err(); err == nil {
		t.Error("broken: an answer")
	}
	if err := client(t, proxy.Addr()).Incr(t.Context(), "counter").Err(); err == nil || value() != "3" {
		t.Errorf("broken: a new connection: error %v, the counter is %s: want an error, and 3", err, value())
	}

	proxy.Silence()
	silent(t, proxy.Addr())

	proxy.Forward()
	if n, err := through.Incr(t.Context(), "counter").Result(); n != 4 || err != nil {
		t.Errorf("at last: %d, error %v: want 4", n, err)
	}
}

// What was sent while the network was silent never arrives, not even when it passes everything on again.
func TestSilentConnectionStaysSilent(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr())
	c := client(t, proxy.Addr()).Conn()
	defer func() { _ = c.Close() }()
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	proxy.Silence()
	sent := make(chan error)
	go func() { sent <- c.Incr(t.Context(), "counter").Err() }()
	silent(t, proxy.Addr()) // and so the proxy has read what was sent before
	proxy.Forward()
	if err := client(t, proxy.Addr()).Ping(t.Context()).Err(); err != nil {
		t.Errorf("a new connection: error %v", err)
	}
	if err := <-sent; err == nil {
		t.Error("what was sent while the network was silent was answered")
	}
	if n := client(t, server.Addr()).DBSize(t.Context()).Val(); n != 0 {
		t.Errorf("%d keys: want none", n)
	}
}
