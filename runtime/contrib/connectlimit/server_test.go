package connectlimit_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"testing"

	"connectrpc.com/connect"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/connectlimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// service is a [Service]. A stream sends a message before it does what it does, so that its header is out.
type service struct {
	during func(ctx context.Context) error // what a call does; nil for nothing
}

func (s service) do(ctx context.Context) error {
	if s.during == nil {
		return nil
	}
	return s.during(ctx)
}

func (s service) Unary(ctx context.Context, _ *connect.Request[empty]) (*connect.Response[empty], error) {
	if err := s.do(ctx); err != nil {
		return nil, err
	}
	return connect.NewResponse(&empty{}), nil
}

func (s service) ServerStream(ctx context.Context, _ *connect.Request[empty], stream *connect.ServerStream[empty]) error {
	for range 3 {
		if err := stream.Send(&empty{}); err != nil {
			return err
		}
	}
	return s.do(ctx)
}

func (s service) ClientStream(ctx context.Context, stream *connect.ClientStream[empty]) (*connect.Response[empty], error) {
	for range 3 {
		if !stream.Receive() {
			return nil, stream.Err()
		}
	}
	if err := s.do(ctx); err != nil {
		return nil, err
	}
	return connect.NewResponse(&empty{}), nil
}

func (s service) BidiStream(ctx context.Context, stream *connect.BidiStream[empty, empty]) error {
	for range 3 {
		if _, err := stream.Receive(); err != nil {
			return err
		}
		if err := stream.Send(&empty{}); err != nil {
			return err
		}
	}
	return s.do(ctx)
}

// client calls a Service, adding header to each request.
type client struct {
	unary, serverStream, clientStream, bidiStream *connect.Client[empty, empty]
	header                                        http.Header
}

// with returns the client with another header.
func (c client) with(header http.Header) client {
	c.header = header
	return c
}

func (c client) addTo(header http.Header) {
	for name, values := range c.header {
		header[name] = values
	}
}

// shapes make a whole call of one shape each, and return the header of the response of a stream if it came.
var shapes = map[string]func(ctx context.Context, c client) (http.Header, error){
	"unary":         callUnary,
	"server stream": callServerStream,
	"client stream": callClientStream,
	"bidi stream":   callBidiStream,
}

func callUnary(ctx context.Context, c client) (http.Header, error) {
	req := connect.NewRequest(&empty{})
	c.addTo(req.Header())
	_, err := c.unary.CallUnary(ctx, req)
	return nil, err
}

func callServerStream(ctx context.Context, c client) (http.Header, error) {
	req := connect.NewRequest(&empty{})
	c.addTo(req.Header())
	stream, err := c.serverStream.CallServerStream(ctx, req)
	if err != nil {
		return nil, err
	}
	for stream.Receive() {
	}
	return stream.ResponseHeader(), errors.Join(stream.Err(), stream.Close())
}

func callClientStream(ctx context.Context, c client) (http.Header, error) {
	stream := c.clientStream.CallClientStream(ctx)
	c.addTo(stream.RequestHeader())
	for range 3 {
		if stream.Send(&empty{}) != nil {
			break // the reason is what CloseAndReceive returns
		}
	}
	_, err := stream.CloseAndReceive()
	return nil, err
}

func callBidiStream(ctx context.Context, c client) (http.Header, error) {
	stream := c.bidiStream.CallBidiStream(ctx)
	c.addTo(stream.RequestHeader())
	for range 3 {
		if stream.Send(&empty{}) != nil {
			break
		}
	}
	_ = stream.CloseRequest() // HTTP/2 does not see ctx end while it waits for more to send
	for {
		if _, err := stream.Receive(); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return stream.ResponseHeader(), errors.Join(err, stream.CloseResponse())
		}
	}
}

// protocols are those that a handler speaks with clients.
var protocols = map[string][]connect.ClientOption{
	"Connect":  nil,
	"gRPC":     {connect.WithGRPC()},
	"gRPC-Web": {connect.WithGRPCWeb()},
}

// pipes is a listener whose connections stay in this process, and all come from a peer.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	peer   address
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return conn{c, p.peer}, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return address("pipe") }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type conn struct {
	net.Conn
	peer address
}

func (c conn) RemoteAddr() net.Addr { return c.peer }

// address is that of a peer.
type address string

func (address) Network() string  { return "test" }
func (a address) String() string { return string(a) }

// server is what serve needs to know.
type server struct {
	peer    address
	service Service
	opts    []connectlimit.Option
	around  func(next http.Handler) http.Handler // all handlers; nil for nothing
	client  []connect.ClientOption
}

// serve serves a service over HTTP/2 and returns a client of it.
func serve(t *testing.T, s server) client {
	t.Helper()
	limits, err := connectlimit.NewInterceptor(s.opts...)
	if err != nil {
		t.Fatal(err)
	}
	interceptors := connect.WithInterceptors(limits)
	mux := http.NewServeMux()
	mux.Handle("/s/Unary", connect.NewUnaryHandler("/s/Unary", s.service.Unary, interceptors))
	mux.Handle("/s/ServerStream", connect.NewServerStreamHandler("/s/ServerStream", s.service.ServerStream, interceptors))
	mux.Handle("/s/ClientStream", connect.NewClientStreamHandler("/s/ClientStream", s.service.ClientStream, interceptors))
	mux.Handle("/s/BidiStream", connect.NewBidiStreamHandler("/s/BidiStream", s.service.BidiStream, interceptors))
	var handler http.Handler = mux
	if s.around != nil {
		handler = s.around(mux)
	}

	var http2 http.Protocols
	http2.SetUnencryptedHTTP2(true)
	listener := &pipes{make(chan net.Conn), make(chan struct{}), s.peer}
	web := &http.Server{Handler: handler, Protocols: &http2, ErrorLog: log.New(io.Discard, "", 0)} // the panics
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = web.Serve(listener) // ends by Close
	}()
	transport := &http.Transport{DialContext: listener.dial, Protocols: &http2}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = web.Close()
		<-served
	})
	call := func(method string) *connect.Client[empty, empty] {
		return connect.NewClient[empty, empty](&http.Client{Transport: transport}, "http://test/s/"+method, s.client...)
	}
	return client{unary: call("Unary"), serverStream: call("ServerStream"), clientStream: call("ClientStream"), bidiStream: call("BidiStream")}
}

func newLimiter(t *testing.T, store ratelimit.Store, opts ...ratelimit.Option) *ratelimit.Limiter {
	t.Helper()
	if store == nil {
		store = memlimit.New()
	}
	limiter, err := ratelimit.New(store, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return limiter
}
