package grpclimit_test

import (
	"context"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/grpclimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
)

// H16, H17: a call of any shape that is refused ends in ResourceExhausted and learns how long to wait. A stream takes one
// unit, however many messages it has.
func TestRefusalSaysHowLongToWait(t *testing.T) {
	for name, call := range shapes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := serve(t, "203.0.113.9:1", NewRateLimitedRated(service{}, newLimiter(t, nil)), nil)
				steps := []struct {
					after   time.Duration
					refused bool
					wait    time.Duration
					trailer string
				}{
					{0, false, 0, ""},
					{0, true, time.Minute, "60"},
					{500 * time.Millisecond, true, 59500 * time.Millisecond, "60"}, // rounded up
					{59 * time.Second, true, 500 * time.Millisecond, "1"},          // never 0
					{500 * time.Millisecond, false, 0, ""},
				}
				for i, step := range steps {
					time.Sleep(step.after)
					var trailer metadata.MD
					err := call(t.Context(), client, grpc.Trailer(&trailer))
					if !step.refused {
						if err != nil || len(trailer) > 0 {
							t.Errorf("call %d: got %v, trailer %v", i+1, err, trailer)
						}
						continue
					}
					if status.Code(err) != codes.ResourceExhausted {
						t.Fatalf("call %d: got %v, want ResourceExhausted", i+1, err)
					}
					r, refused := grpclimit.ReadRefusal(err)
					if !refused || r.RetryAfter != step.wait || len(r.Limits) != 1 || r.Limits[0] != "1m" {
						t.Errorf("call %d: got %+v, %v, want limit 1m and a wait of %v", i+1, r, refused, step.wait)
					}
					if got := trailer.Get("retry-after"); len(got) != 1 || got[0] != step.trailer {
						t.Errorf("call %d: got retry-after %q, want %q", i+1, got, step.trailer)
					}
				}
			})
		})
	}
}

// H17: a slot is taken when a stream is opened and held until it ends.
func TestSlotIsHeldUntilTheStreamEnds(t *testing.T) {
	user := grpclimit.Caller("user", func(context.Context) string { return "ann" })
	for name, call := range shapes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun, end := make(chan struct{}), make(chan struct{})
				svc := service{during: func(context.Context) error {
					begun <- struct{}{}
					<-end
					return nil
				}}
				client := serve(t, "203.0.113.9:1", NewRateLimitedSlotted(svc, newLimiter(t, nil)), []grpclimit.Option{user})
				for range 3 {
					first := make(chan error)
					go func() { first <- call(t.Context(), client) }()
					<-begun
					r, refused := grpclimit.ReadRefusal(call(t.Context(), client))
					if !refused || r.RetryAfter != time.Second { // nobody knows when the call will end
						t.Errorf("beside a call that runs: got %+v, %v, want a refusal", r, refused)
					}
					end <- struct{}{}
					if err := <-first; err != nil {
						t.Fatal(err)
					}
				}
			})
		})
	}
}

// H17: once the header of a stream is out, a refusal still arrives, by the trailer.
func TestRefusalAfterTheHeaderArrives(t *testing.T) {
	for name, call := range map[string]shape{"server stream": serverStream, "bidi stream": bidiStream} {
		t.Run(name, func(t *testing.T) {
			guard := newLimiter(t, nil).Guard("nested", ratelimit.Rule{
				Name: "daily", Key: "all", Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1, Period: 24 * time.Hour},
			})
			client := serve(t, "203.0.113.9:1", service{during: func(ctx context.Context) error { return guard.Allow(ctx) }}, nil)
			if err := call(t.Context(), client); err != nil {
				t.Fatal(err)
			}
			var header, trailer metadata.MD
			err := call(t.Context(), client, grpc.Header(&header), grpc.Trailer(&trailer))
			r, refused := grpclimit.ReadRefusal(err)
			if !refused || r.RetryAfter > 24*time.Hour || r.RetryAfter < 23*time.Hour || r.Limits[0] != "daily" {
				t.Errorf("got %v: %+v, %v", err, r, refused)
			}
			if len(header.Get("content-type")) == 0 || len(header.Get("retry-after")) > 0 || len(trailer.Get("retry-after")) != 1 {
				t.Errorf("got header %v, trailer %v, want a retry-after in the trailer", header, trailer)
			}
		})
	}
}

// H18, H07
func TestClientIP(t *testing.T) {
	proxies := httplimit.TrustedProxies(netip.MustParsePrefix("10.0.0.0/8"))
	xff := []string{"x-forwarded-for", "192.0.2.66, 198.51.100.7"}
	for _, c := range []struct {
		name     string
		opts     []httplimit.AddressOption
		peer     address
		metadata []string
		want     string
	}{
		{"the peer, without its port", nil, "203.0.113.9:5", nil, "203.0.113.9"},
		{"metadata of anyone", nil, "203.0.113.9:5", xff, "203.0.113.9"},
		{"metadata of a peer that is not trusted", []httplimit.AddressOption{proxies}, "203.0.113.9:5", xff, "203.0.113.9"},
		{"metadata of a proxy", []httplimit.AddressOption{proxies}, "10.0.0.5:5", xff, "198.51.100.7"},
		{"several lines", []httplimit.AddressOption{proxies}, "10.0.0.5:5", append(xff, "x-forwarded-for", "10.0.0.9"), "198.51.100.7"},
		{"another key", []httplimit.AddressOption{proxies, httplimit.ClientIPHeader("X-Real-IP")}, "10.0.0.5:5", append(xff, "x-real-ip", "198.51.100.8"), "198.51.100.8"},
		{"another key only", []httplimit.AddressOption{proxies, httplimit.ClientIPHeader("X-Real-IP")}, "10.0.0.5:5", xff, "10.0.0.5"},
		{"a proxy that names nobody", []httplimit.AddressOption{proxies}, "10.0.0.5:5", nil, "10.0.0.5"},
		{"an IPv6 network", nil, "[2001:db8:1:2:3:4:5:6]:5", nil, "2001:db8:1:2::"},
		{"mapped IPv4", nil, "[::ffff:192.0.2.1]:5", nil, "192.0.2.1"},
		{"a zone", nil, "[fe80::1%eth0]:5", nil, "fe80::"},
		{"no address", nil, "@", xff, ""},
		{"none at all", nil, "", xff, ""},
		{"in this process", nil, "bufconn", xff, ""},
		{"proxies are trusted, sockets are not", []httplimit.AddressOption{proxies}, "@", xff, ""},
		{"a trusted socket", []httplimit.AddressOption{httplimit.TrustUnixSocket()}, "@", xff, "198.51.100.7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got string
			svc := service{during: func(ctx context.Context) error {
				got = ""
				if ip, ok := ratelimit.ClientIP(ctx); ok {
					got = ip.String()
				}
				return nil
			}}
			client := serve(t, c.peer, svc, []grpclimit.Option{grpclimit.ClientIP(c.opts...)})
			ctx := metadata.AppendToOutgoingContext(t.Context(), c.metadata...)
			for name, call := range shapes {
				got = "the method was not called"
				if err := call(ctx, client); err != nil {
					t.Fatal(err)
				}
				if got != c.want {
					t.Errorf("%s: got client %q, want %q", name, got, c.want)
				}
			}
		})
	}
}

// An address that the context of the call holds is that of a server around this one, which knows better.
func TestClientIPOfAnOuterServerIsKept(t *testing.T) {
	known := netip.MustParseAddr("198.51.100.9")
	for _, c := range []struct {
		name string
		opts []grpclimit.Option
		want string
	}{
		{"kept", nil, "198.51.100.9"},
		{"found anew", []grpclimit.Option{grpclimit.ClientIP(httplimit.IPv6Prefix(56))}, "203.0.113.9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			svc := service{during: func(ctx context.Context) error {
				if ip, _ := ratelimit.ClientIP(ctx); ip.String() != c.want {
					t.Errorf("got client %v, want %s", ip, c.want)
				}
				return nil
			}}
			outer := func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
				return handler(ratelimit.WithClientIP(ctx, known), req)
			}
			client := serve(t, "203.0.113.9:1", svc, c.opts, grpc.ChainUnaryInterceptor(outer))
			if err := unary(t.Context(), client); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestCaller(t *testing.T) {
	// It stands for what an interceptor before has verified.
	user := grpclimit.Caller("user", func(ctx context.Context) string {
		return metadata.ValueFromIncomingContext(ctx, "user")[0]
	})
	for name, call := range shapes {
		t.Run(name, func(t *testing.T) {
			limiter := newLimiter(t, nil)
			guard := limiter.Guard("m", ratelimit.Rule{Key: "{@user}", Limit: ratelimit.Limit{Count: 1, Period: time.Hour}})
			svc := service{during: func(ctx context.Context) error { return guard.Allow(ctx) }}
			client := serve(t, "203.0.113.9:1", svc, []grpclimit.Option{user})
			for _, step := range []struct {
				user string
				want codes.Code
			}{
				{"ann", codes.OK},
				{"ann", codes.ResourceExhausted},
				{"bob", codes.OK},
				{"", codes.ResourceExhausted}, // onempty=deny
			} {
				ctx := metadata.AppendToOutgoingContext(t.Context(), "user", step.user)
				if got := status.Code(call(ctx, client)); got != step.want {
					t.Errorf("user %q: got %v, want %v", step.user, got, step.want)
				}
			}
		})
	}
}

// What an interceptor before has said of the caller holds where Caller finds nothing.
func TestCallerOfAnOuterInterceptorIsKept(t *testing.T) {
	guard := newLimiter(t, nil).Guard("m", ratelimit.Rule{Key: "{@user}", Limit: ratelimit.Limit{Count: 1, Period: time.Hour}})
	svc := service{during: func(ctx context.Context) error { return guard.Allow(ctx) }}
	outer := func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		return handler(ratelimit.WithCaller(ctx, "user", "ann"), req)
	}
	nobody := grpclimit.Caller("user", func(context.Context) string { return "" })
	client := serve(t, "203.0.113.9:1", svc, []grpclimit.Option{nobody}, grpc.ChainUnaryInterceptor(outer))
	if err := unary(t.Context(), client); err != nil {
		t.Errorf("got %v: the attribute is missing", err)
	}
}

// H07: servers without a connection, such as those inside of tests, have a peer without an address, or none.
func TestNoPeer(t *testing.T) {
	limits, err := grpclimit.NewInterceptor()
	if err != nil {
		t.Fatal(err)
	}
	for _, ctx := range []context.Context{t.Context(), peer.NewContext(t.Context(), &peer.Peer{})} {
		_, err := limits.Unary(ctx, nil, nil, func(ctx context.Context, _ any) (any, error) {
			if ip, ok := ratelimit.ClientIP(ctx); ok {
				t.Errorf("got client %v", ip)
			}
			return nil, &ratelimit.LimitError{}
		})
		if status.Code(err) != codes.ResourceExhausted {
			t.Errorf("got %v, want ResourceExhausted", err)
		}
	}
}

func TestInvalidOptions(t *testing.T) {
	value := func(context.Context) string { return "" }
	for _, c := range []struct {
		opts []grpclimit.Option
		want string
	}{
		{[]grpclimit.Option{nil}, "grpclimit: option 1 is nil: want an Option"},
		{[]grpclimit.Option{grpclimit.ClientIP(nil)}, "grpclimit: option 1 is nil: want an AddressOption"},
		{[]grpclimit.Option{grpclimit.ClientIP(httplimit.IPv6Prefix(0))}, "grpclimit: IPv6Prefix(0): want 1 to 128"},
		{[]grpclimit.Option{grpclimit.Caller("", value)}, `grpclimit: Caller(""): want the name of an attribute`},
		{[]grpclimit.Option{grpclimit.Caller("ip", value)}, `grpclimit: Caller("ip"): want another name, since "ip" is the client's address`},
		{[]grpclimit.Option{grpclimit.Caller("user", nil)}, `grpclimit: Caller("user"): want a function, not nil`},
		{
			[]grpclimit.Option{grpclimit.Caller("", value), grpclimit.ClientIP(httplimit.TrustedHops(1)), grpclimit.ClientIP(httplimit.TrustedProxies())}, // all of them
			"grpclimit: Caller(\"\"): want the name of an attribute\nTrustedProxies and TrustedHops: want one of them",
		},
	} {
		if _, err := grpclimit.NewInterceptor(c.opts...); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
