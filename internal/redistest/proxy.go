package redistest

import (
	"bytes"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy stands between clients and a server, and does to the connections what networks do. At first it passes
// everything on. Each method that changes this undoes what another one did. They are safe for concurrent use.
type Proxy struct {
	server   string
	listener net.Listener
	fault    atomic.Pointer[fault]
	lost     atomic.Int64
	closing  chan struct{}

	running sync.WaitGroup // all goroutines
	mu      sync.Mutex
	conns   map[net.Conn]bool // nil when the proxy is closed
}

// fault is what the proxy does wrong.
type fault struct {
	lose   string        // the command whose replies are lost; "" is none
	delay  time.Duration // of each reply
	silent bool
	broken bool
}

// NewProxy starts a proxy in front of the server at an address. It ends with t.
func NewProxy(t testing.TB, server string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{server: server, listener: listener, closing: make(chan struct{}), conns: map[net.Conn]bool{}}
	p.Forward()
	p.running.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// Addr returns where the proxy listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Forward passes everything on from now on.
func (p *Proxy) Forward() { p.fault.Store(&fault{}) }

// Lose loses the replies to commands of a name, in the case in which it is sent: the server executes the command, and the
// connection breaks instead of passing the reply on. A command that follows in a pipeline is lost with it. A reply that the
// server does not know the script is passed on, as nothing was executed.
func (p *Proxy) Lose(command string) { p.fault.Store(&fault{lose: command}) }

// Lost returns how many replies were lost by [Proxy.Lose].
func (p *Proxy) Lost() int64 { return p.lost.Load() }

// Delay makes each reply arrive later.
func (p *Proxy) Delay(d time.Duration) { p.fault.Store(&fault{delay: d}) }

// Silence is a half-open network: nothing arrives any more, in no direction, and nobody is told. New connections are
// accepted. Those that meant to pass anything on while it lasted stay silent for ever, as after a firewall forgot them;
// what was sent on them never arrives.
func (p *Proxy) Silence() { p.fault.Store(&fault{silent: true}) }

// Break breaks all connections and, as soon as they are made, new ones.
func (p *Proxy) Break() {
	p.fault.Store(&fault{broken: true})
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		_ = conn.Close()
	}
}

func (p *Proxy) close() {
	close(p.closing)
	_ = p.listener.Close()
	p.mu.Lock()
	for conn := range p.conns {
		_ = conn.Close()
	}
	p.conns = nil
	p.mu.Unlock()
	p.running.Wait()
}

// keep makes sure that a connection ends with the proxy, and returns false when the proxy has.
func (p *Proxy) keep(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		_ = conn.Close()
		return false
	}
	p.conns[conn] = true
	return true
}

func (p *Proxy) drop(conn net.Conn) {
	_ = conn.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		if p.keep(client) {
			p.running.Go(func() {
				defer p.drop(client)
				p.serve(client)
			})
		}
	}
}

// serve passes on what comes from and for a client.
func (p *Proxy) serve(client net.Conn) {
	if p.fault.Load().broken {
		return
	}
	server, err := net.Dial("tcp", p.server)
	if err != nil || !p.keep(server) {
		return // which breaks the client's connection, as if it had been refused
	}
	defer p.drop(server)
	pair := &pair{proxy: p}
	p.running.Go(func() {
		defer p.drop(server)
		pair.copy(server, client, pair.request)
	})
	pair.copy(client, server, pair.reply)
}

// pair is a client's connection and that to the server for it.
type pair struct {
	proxy  *Proxy
	lost   atomic.Bool // whether the reply that is awaited will be lost
	silent atomic.Bool // whether nothing passes any more
}

// copy passes on what may pass, until it is told to break the connection.
func (c *pair) copy(to io.Writer, from io.Reader, pass func([]byte, *fault) bool) {
	buffer := make([]byte, 1<<16) // holds any command of these tests, and the client waits for each reply
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		f := c.proxy.fault.Load()
		if f.silent {
			c.silent.Store(true)
		}
		if c.silent.Load() {
			continue
		}
		if !pass(buffer[:n], f) {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (c *pair) request(text []byte, f *fault) bool {
	if f.lose != "" && bytes.Contains(text, []byte("\r\n"+f.lose+"\r\n")) {
		c.lost.Store(true)
	}
	return true
}

func (c *pair) reply(text []byte, f *fault) bool {
	if c.lost.Swap(false) && !bytes.HasPrefix(text, []byte("-NOSCRIPT")) {
		c.proxy.lost.Add(1)
		return false
	}
	if f.delay > 0 {
		select {
		case <-time.After(f.delay):
		case <-c.proxy.closing:
			return false
		}
	}
	return true
}
