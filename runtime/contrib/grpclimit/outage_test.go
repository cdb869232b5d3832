package grpclimit_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/grpclimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// downStore is a Store that cannot be reached.
type downStore struct{}

func (downStore) fail() error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
}

func (s downStore) Take(context.Context, []ratelimit.Charge, []ratelimit.Result) error {
	return s.fail()
}

func (s downStore) Peek(context.Context, []ratelimit.Charge, []ratelimit.Result) error {
	return s.fail()
}
func (s downStore) Refund(context.Context, []ratelimit.Charge) error { return s.fail() }
func (s downStore) Reset(context.Context, []ratelimit.Charge) error  { return s.fail() }

// S14, H16: an outage is not answered as a refusal. Only where the calls are decided in this process's memory can one be
// over the limit.
func TestOutageIsNoRefusal(t *testing.T) {
	for failure, want := range map[ratelimit.Failure][]codes.Code{
		ratelimit.FailLocal:  {codes.OK, codes.ResourceExhausted},
		ratelimit.FailOpen:   {codes.OK, codes.OK},
		ratelimit.FailClosed: {codes.Unavailable, codes.Unavailable},
	} {
		for name, call := range shapes {
			t.Run(string(failure)+"/"+name, func(t *testing.T) {
				limiter := newLimiter(t, downStore{}, ratelimit.LocalStore(memlimit.New()), ratelimit.OnFailure(failure))
				client := serve(t, "203.0.113.9:1", NewRateLimitedRated(service{}, limiter), nil)
				for i, code := range want {
					err := call(t.Context(), client)
					if status.Code(err) != code {
						t.Errorf("call %d: got %v, want %v", i+1, err, code)
					}
					if _, refused := grpclimit.ReadRefusal(err); refused != (code == codes.ResourceExhausted) {
						t.Errorf("call %d: %v is read as a refusal: %t", i+1, err, refused)
					}
					if code == codes.Unavailable && status.Convert(err).Message() != "The limit of the request could not be checked." {
						t.Errorf("call %d: the caller is told %v", i+1, err)
					}
				}
			})
		}
	}
}

// H07: on a Unix socket, nobody has an address, and a limit of each address refuses everybody.
func TestPeerWithoutAddressIsNoBypass(t *testing.T) {
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	dial := func(ctx context.Context, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", l.Addr().String())
	}
	client := serveOn(t, l, dial, NewRateLimitedRated(service{}, newLimiter(t, nil)), nil)
	for name, call := range shapes {
		err := call(t.Context(), client)
		r, refused := grpclimit.ReadRefusal(err)
		if !refused || r.RetryAfter != ratelimit.Never {
			t.Errorf("%s: got %v, want a refusal without a wait", name, err)
		}
		if want := "The request does not identify its caller, and its limit is kept for each caller."; r.Message != want {
			t.Errorf("%s: got %q, want %q", name, r.Message, want)
		}
	}
}

// H07: who is on a Unix socket may bind its own end to a file whose name reads as an address, be it a trusted one. It is so
// for gRPC's own server, and for one inside of net/http's.
func TestPeerOnAUnixSocketDoesNotChooseItsAddress(t *testing.T) {
	proxies := grpclimit.ClientIP(httplimit.TrustedProxies(netip.MustParsePrefix("10.0.0.0/8")))
	for name, serve := range map[string]serving{"gRPC's own": serveOn, "inside of net/http": serveInside} {
		t.Chdir(t.TempDir())
		var config net.ListenConfig
		l, err := config.Listen(t.Context(), "unix", filepath.Join(t.TempDir(), "s"))
		if err != nil {
			t.Fatal(err)
		}
		dial := func(ctx context.Context, _ string) (net.Conn, error) {
			d := net.Dialer{LocalAddr: &net.UnixAddr{Name: "10.0.0.5:1", Net: "unix"}}
			return d.DialContext(ctx, "unix", l.Addr().String())
		}
		called := false
		svc := service{during: func(ctx context.Context) error {
			called = true
			if ip, ok := ratelimit.ClientIP(ctx); ok {
				t.Errorf("%s: the client is %v, want nobody", name, ip)
			}
			return nil
		}}
		client := serve(t, l, dial, svc, []grpclimit.Option{proxies})
		ctx := metadata.AppendToOutgoingContext(t.Context(), "x-forwarded-for", "198.51.100.7")
		if err := unary(ctx, client); err != nil || !called {
			t.Errorf("%s: got %v, called %v", name, err, called)
		}
	}
}

// The server ends a call that its client no longer waits for by the context's code, not as an outage.
func TestCallThatEndedIsNoOutage(t *testing.T) {
	for want, ctx := range map[codes.Code]context.Context{
		codes.Canceled:         canceled(t),
		codes.DeadlineExceeded: expired(t),
	} {
		guard := newLimiter(t, nil).Guard("m", ratelimit.Rule{Key: "k", Limit: ratelimit.Limit{Count: 1, Period: time.Hour}})
		err := grpclimit.Error(guard.Allow(ctx))
		if s := status.Convert(err); s.Code() != want || s.Message() != ctx.Err().Error() {
			t.Errorf("got %v, want %v", err, want)
		}
		if !errors.Is(err, ctx.Err()) {
			t.Errorf("%v does not wrap %v", err, ctx.Err())
		}
	}
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func expired(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	t.Cleanup(cancel)
	return ctx
}
