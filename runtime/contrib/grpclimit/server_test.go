package grpclimit_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	testgrpc "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/test/bufconn"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/grpclimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// service has a method of each shape. A stream sends a message before, so that its header is out.
type service struct {
	testgrpc.UnimplementedTestServiceServer
	during func(ctx context.Context) error // what a call does; nil for nothing
}

func (s service) do(ctx context.Context) error {
	if s.during == nil {
		return nil
	}
	return s.during(ctx)
}

func (s service) EmptyCall(ctx context.Context, _ *testgrpc.Empty) (*testgrpc.Empty, error) {
	return &testgrpc.Empty{}, s.do(ctx)
}

func (s service) StreamingOutputCall(_ *testgrpc.StreamingOutputCallRequest, ss grpc.ServerStreamingServer[testgrpc.StreamingOutputCallResponse]) error {
	for range 3 {
		if err := ss.Send(&testgrpc.StreamingOutputCallResponse{}); err != nil {
			return err
		}
	}
	return s.do(ss.Context())
}

func (s service) StreamingInputCall(ss grpc.ClientStreamingServer[testgrpc.StreamingInputCallRequest, testgrpc.StreamingInputCallResponse]) error {
	for range 3 {
		if _, err := ss.Recv(); err != nil {
			return err
		}
	}
	if err := s.do(ss.Context()); err != nil {
		return err
	}
	return ss.SendAndClose(&testgrpc.StreamingInputCallResponse{})
}

func (s service) FullDuplexCall(ss grpc.BidiStreamingServer[testgrpc.StreamingOutputCallRequest, testgrpc.StreamingOutputCallResponse]) error {
	for range 3 {
		if _, err := ss.Recv(); err != nil {
			return err
		}
		if err := ss.Send(&testgrpc.StreamingOutputCallResponse{}); err != nil {
			return err
		}
	}
	return s.do(ss.Context())
}

// shape makes a whole call of one shape.
type shape func(ctx context.Context, client testgrpc.TestServiceClient, opts ...grpc.CallOption) error

var shapes = map[string]shape{"unary": unary, "server stream": serverStream, "client stream": clientStream, "bidi stream": bidiStream}

func unary(ctx context.Context, client testgrpc.TestServiceClient, opts ...grpc.CallOption) error {
	_, err := client.EmptyCall(ctx, &testgrpc.Empty{}, opts...)
	return err
}

func serverStream(ctx context.Context, client testgrpc.TestServiceClient, opts ...grpc.CallOption) error {
	cs, err := client.StreamingOutputCall(ctx, &testgrpc.StreamingOutputCallRequest{}, opts...)
	if err != nil {
		return err
	}
	return drain(cs.Recv)
}

func clientStream(ctx context.Context, client testgrpc.TestServiceClient, opts ...grpc.CallOption) error {
	cs, err := client.StreamingInputCall(ctx, opts...)
	if err != nil {
		return err
	}
	for range 3 {
		if cs.Send(&testgrpc.StreamingInputCallRequest{}) != nil {
			break // the reason is what CloseAndRecv returns
		}
	}
	_, err = cs.CloseAndRecv()
	return err
}

func bidiStream(ctx context.Context, client testgrpc.TestServiceClient, opts ...grpc.CallOption) error {
	cs, err := client.FullDuplexCall(ctx, opts...)
	if err != nil {
		return err
	}
	for range 3 {
		if cs.Send(&testgrpc.StreamingOutputCallRequest{}) != nil {
			break
		}
	}
	return drain(cs.Recv)
}

// drain receives until the stream ends.
func drain[T any](recv func() (T, error)) error {
	for {
		if _, err := recv(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// address is that of a peer.
type address string

func (address) Network() string  { return "test" }
func (a address) String() string { return string(a) }

// listener accepts connections from a peer.
type listener struct {
	net.Listener
	peer address
}

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return conn{c, l.peer}, nil
}

type conn struct {
	net.Conn
	peer address
}

func (c conn) RemoteAddr() net.Addr { return c.peer }

// serve serves a service to a client whose address is peer, behind an Interceptor that is inside of others.
func serve(t *testing.T, peer address, svc testgrpc.TestServiceServer, opts []grpclimit.Option, outside ...grpc.ServerOption) testgrpc.TestServiceClient {
	t.Helper()
	buffer := bufconn.Listen(1 << 16)
	dial := func(ctx context.Context, _ string) (net.Conn, error) { return buffer.DialContext(ctx) }
	return serveOn(t, listener{buffer, peer}, dial, svc, opts, outside...)
}

// dialer makes the connections of a client.
type dialer = func(context.Context, string) (net.Conn, error)

// serving is a function that serves a service on a listener, to a client that dials in its own way.
type serving func(t *testing.T, l net.Listener, dial dialer, svc testgrpc.TestServiceServer, opts []grpclimit.Option, outside ...grpc.ServerOption) testgrpc.TestServiceClient

func serveOn(t *testing.T, l net.Listener, dial dialer, svc testgrpc.TestServiceServer, opts []grpclimit.Option, outside ...grpc.ServerOption) testgrpc.TestServiceClient {
	t.Helper()
	server := newServer(t, svc, opts, outside)
	served := make(chan error)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return newClient(t, dial)
}

// serveInside serves inside of a server of net/http's.
func serveInside(t *testing.T, l net.Listener, dial dialer, svc testgrpc.TestServiceServer, opts []grpclimit.Option, outside ...grpc.ServerOption) testgrpc.TestServiceClient {
	t.Helper()
	var http2 http.Protocols
	http2.SetUnencryptedHTTP2(true)
	web := httptest.NewUnstartedServer(newServer(t, svc, opts, outside))
	_ = web.Listener.Close()
	web.Listener, web.Config.Protocols = l, &http2
	web.Start()
	t.Cleanup(web.Close)
	return newClient(t, dial)
}

func newServer(t *testing.T, svc testgrpc.TestServiceServer, opts []grpclimit.Option, outside []grpc.ServerOption) *grpc.Server {
	t.Helper()
	limits, err := grpclimit.NewInterceptor(opts...)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(append(outside, grpc.ChainUnaryInterceptor(limits.Unary), grpc.ChainStreamInterceptor(limits.Stream))...)
	testgrpc.RegisterTestServiceServer(server, svc)
	return server
}

func newClient(t *testing.T, dial dialer) testgrpc.TestServiceClient {
	t.Helper()
	cc, err := grpc.NewClient("passthrough:///test", grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(dial))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cc.Close(); err != nil {
			t.Error(err)
		}
	})
	return testgrpc.NewTestServiceClient(cc)
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
