package redislimit_test

import (
	"bytes"
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// lossy is a proxy in front of a server that loses replies: it lets the server execute a command, and then breaks the
// connection instead of passing the reply on.
type lossy struct {
	server   string
	listener net.Listener
	conns    sync.WaitGroup

	losing   atomic.Pointer[string] // the name of the commands whose replies are lost
	executed atomic.Int64           // how many replies were lost
}

func newLossy(t *testing.T, server string) *lossy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &lossy{server: server, listener: listener}
	p.lose("")
	p.conns.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		p.conns.Wait()
	})
	return p
}

// lose makes the proxy lose the replies to commands of that name from now on; "" is none.
func (p *lossy) lose(command string) { p.losing.Store(&command) }

func (p *lossy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			_ = client.Close()
			return
		}
		p.conns.Go(func() { p.serve(client, server) })
	}
}

func (p *lossy) serve(client, server net.Conn) {
	var lost atomic.Bool // whether the reply that is awaited will be lost
	p.conns.Go(func() {
		defer func() { _ = server.Close() }()
		buffer := make([]byte, 1<<16) // holds any command of these tests, and the client waits for each reply
		for {
			n, err := client.Read(buffer)
			if err != nil {
				return
			}
			if name := *p.losing.Load(); name != "" && bytes.Contains(buffer[:n], []byte("\r\n"+name+"\r\n")) {
				lost.Store(true)
			}
			if _, err := server.Write(buffer[:n]); err != nil {
				return
			}
		}
	})
	defer func() { _ = client.Close() }()
	buffer := make([]byte, 1<<16)
	for {
		n, err := server.Read(buffer)
		if err != nil {
			return
		}
		if lost.Load() && !bytes.HasPrefix(buffer[:n], []byte("-NOSCRIPT")) {
			p.executed.Add(1)
			return
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// A call whose reply is lost is an error and is charged once. By default go-redis sends it four times.
func TestLostReplyIsChargedOnce(t *testing.T) {
	direct := redistest.Client(t)
	proxy := newLossy(t, direct.Options().Addr)
	client := redis.NewClient(&redis.Options{Addr: proxy.listener.Addr().String()})
	defer func() { _ = client.Close() }()

	proxy.lose("incr")
	if err := client.Incr(t.Context(), "counter").Err(); err == nil {
		t.Fatal("the proxy loses nothing")
	}
	if n := direct.Get(t.Context(), "counter").Val(); n == "1" {
		t.Fatal("the client sends nothing twice: the test shows nothing")
	}

	takeIt := func(ctx context.Context, s *redislimit.Store, charges []ratelimit.Charge) error {
		return s.Take(ctx, charges, make([]ratelimit.Result, len(charges)))
	}
	refundIt := func(ctx context.Context, s *redislimit.Store, charges []ratelimit.Charge) error {
		return s.Refund(ctx, charges)
	}
	limit := ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 100, Period: 1000 * time.Hour}
	tests := []struct {
		name string
		lost string
		warm bool // whether the server knows the script
		call func(context.Context, *redislimit.Store, []ratelimit.Charge) error
		left int64
	}{
		{"take", "evalsha", true, takeIt, 89},
		{"take of a script that the server has forgotten", "eval", false, takeIt, 89},
		{"refund", "evalsha", true, refundIt, 91},
		{"refund of a script that the server has forgotten", "eval", false, refundIt, 91},
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			proxy.lose("")
			store, directly := redislimit.NewPatient(client), redislimit.New(direct)
			c := ratelimit.Charge{Key: []byte{'a' + byte(i)}, Name: "long", Limit: limit, Cost: 10}
			take(t, directly, []ratelimit.Charge{c})
			c.Cost = 1
			if test.warm {
				if err := directly.Refund(t.Context(), []ratelimit.Charge{{Key: []byte("other"), Name: "long", Limit: limit, Cost: 1}}); err != nil {
					t.Fatal(err)
				}
			} else if err := direct.ScriptFlush(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}

			before := proxy.executed.Load()
			proxy.lose(test.lost)
			if err := test.call(t.Context(), store, []ratelimit.Charge{c}); err == nil {
				t.Error("the lost reply is no error")
			}
			if n := proxy.executed.Load() - before; n != 1 {
				t.Errorf("the command was executed %d times: want once", n)
			}
			results := make([]ratelimit.Result, 1)
			if err := directly.Peek(t.Context(), []ratelimit.Charge{c}, results); err != nil {
				t.Fatal(err)
			}
			if results[0].Remaining != test.left {
				t.Errorf("%d remain: want %d", results[0].Remaining, test.left)
			}
		})
	}
}
