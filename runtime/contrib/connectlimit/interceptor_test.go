package connectlimit_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/connectlimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
)

// H16, H17: over each protocol, a call of any shape that is refused ends in CodeResourceExhausted and learns how long to
// wait. A stream takes one unit, however many messages it has.
func TestRefusalSaysHowLongToWait(t *testing.T) {
	for protocol, option := range protocols {
		for name, call := range shapes {
			t.Run(protocol+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					limited := NewRateLimitedRated(service{}, newLimiter(t, nil))
					c := serve(t, server{peer: "203.0.113.9:1", service: limited, client: option})
					steps := []struct {
						after   time.Duration
						refused bool
						wait    time.Duration
						header  string
					}{
						{0, false, 0, ""},
						{0, true, time.Minute, "60"},
						{500 * time.Millisecond, true, 59500 * time.Millisecond, "60"}, // rounded up
						{59 * time.Second, true, 500 * time.Millisecond, "1"},          // never 0
						{500 * time.Millisecond, false, 0, ""},
					}
					for i, step := range steps {
						time.Sleep(step.after)
						_, err := call(t.Context(), c)
						if !step.refused {
							if err != nil {
								t.Errorf("call %d: got %v", i+1, err)
							}
							continue
						}
						var coded *connect.Error
						if !errors.As(err, &coded) || coded.Code() != connect.CodeResourceExhausted {
							t.Fatalf("call %d: got %v, want CodeResourceExhausted", i+1, err)
						}
						r, refused := connectlimit.ReadRefusal(err)
						if !refused || r.RetryAfter != step.wait || len(r.Limits) != 1 || r.Limits[0] != "1m" {
							t.Errorf("call %d: got %+v, %v, want limit 1m and a wait of %v", i+1, r, refused, step.wait)
						}
						if got := coded.Meta().Values("Retry-After"); len(got) != 1 || got[0] != step.header {
							t.Errorf("call %d: got Retry-After %q, want %q", i+1, got, step.header)
						}
					}
				})
			})
		}
	}
}

// What a caller with curl sees of Connect.
func TestRefusalOverPlainHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits, err := connectlimit.NewInterceptor()
		if err != nil {
			t.Fatal(err)
		}
		limited := NewRateLimitedRated(service{}, newLimiter(t, nil))
		handler := connect.NewUnaryHandler("/s/Unary", limited.Unary, connect.WithInterceptors(limits))
		for _, want := range []string{
			`200 "" {}`,
			`429 "60" {"code":"resource_exhausted","message":"The request is over its limit. Try again in 60 seconds."`,
		} {
			r := httptest.NewRequest(http.MethodPost, "/s/Unary", strings.NewReader("{}"))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if got := fmt.Sprintf("%d %q %s", w.Code, w.Header().Get("Retry-After"), w.Body); !strings.HasPrefix(got, want) {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	})
}

// H17: a slot is taken when a stream is opened and held until it ends.
func TestSlotIsHeldUntilTheStreamEnds(t *testing.T) {
	for name, call := range shapes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun, end := make(chan struct{}), make(chan struct{})
				limited := NewRateLimitedSlotted(service{func(context.Context) error {
					begun <- struct{}{}
					<-end
					return nil
				}}, newLimiter(t, nil))
				c := serve(t, server{peer: "203.0.113.9:1", service: limited, opts: []connectlimit.Option{ann}})
				for range 3 {
					first := make(chan error)
					go func() {
						_, err := call(t.Context(), c)
						first <- err
					}()
					<-begun
					_, err := call(t.Context(), c)
					r, refused := connectlimit.ReadRefusal(err)
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

// ann is the user who makes each call.
var ann = connectlimit.Caller("user", func(context.Context, http.Header) string { return "ann" })

// H17: once the header of a stream is out, a refusal still arrives, at its end.
func TestRefusalAfterTheHeaderArrives(t *testing.T) {
	for protocol, option := range protocols {
		for _, name := range []string{"server stream", "bidi stream"} {
			t.Run(protocol+"/"+name, func(t *testing.T) {
				guard := newLimiter(t, nil).Guard("nested", ratelimit.Rule{
					Name: "daily", Key: "all", Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1, Period: 24 * time.Hour},
				})
				nested := service{func(ctx context.Context) error { return guard.Allow(ctx) }}
				c := serve(t, server{peer: "203.0.113.9:1", service: nested, client: option})
				if _, err := shapes[name](t.Context(), c); err != nil {
					t.Fatal(err)
				}
				header, err := shapes[name](t.Context(), c)
				r, refused := connectlimit.ReadRefusal(err)
				if !refused || r.RetryAfter > 24*time.Hour || r.RetryAfter < 23*time.Hour || r.Limits[0] != "daily" {
					t.Errorf("got %v: %+v, %v", err, r, refused)
				}
				var coded *connect.Error
				if len(header.Values("Retry-After")) > 0 || !errors.As(err, &coded) || len(coded.Meta().Values("Retry-After")) != 1 {
					t.Errorf("got header %v, error %+v, want a Retry-After in the trailer", header, coded)
				}
			})
		}
	}
}

// H18, H07
func TestClientIP(t *testing.T) {
	proxies := httplimit.TrustedProxies(netip.MustParsePrefix("10.0.0.0/8"))
	xff := http.Header{"X-Forwarded-For": {"192.0.2.66, 198.51.100.7"}}
	for _, c := range []struct {
		name   string
		opts   []httplimit.AddressOption
		peer   address
		header http.Header
		want   string
	}{
		{"the peer, without its port", nil, "203.0.113.9:5", nil, "203.0.113.9"},
		{"a header of anyone", nil, "203.0.113.9:5", xff, "203.0.113.9"},
		{"a header of a peer that is not trusted", []httplimit.AddressOption{proxies}, "203.0.113.9:5", xff, "203.0.113.9"},
		{"a header of a proxy", []httplimit.AddressOption{proxies}, "10.0.0.5:5", xff, "198.51.100.7"},
		{"several lines", []httplimit.AddressOption{proxies}, "10.0.0.5:5", http.Header{"X-Forwarded-For": {"198.51.100.7", "10.0.0.9"}}, "198.51.100.7"},
		{"another header", []httplimit.AddressOption{proxies, httplimit.ClientIPHeader("Forwarded")}, "10.0.0.5:5", http.Header{"Forwarded": {"for=198.51.100.8"}}, "198.51.100.8"},
		{"an IPv6 network", nil, "[2001:db8:1:2:3:4:5:6]:5", nil, "2001:db8:1:2::"},
		{"mapped IPv4", nil, "[::ffff:192.0.2.1]:5", nil, "192.0.2.1"},
		{"no address", nil, "@", xff, ""},
		{"none at all", nil, "", xff, ""},
		{"a trusted socket", []httplimit.AddressOption{httplimit.TrustUnixSocket()}, "@", xff, "198.51.100.7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got string
			svc := service{func(ctx context.Context) error {
				got = ""
				if ip, ok := ratelimit.ClientIP(ctx); ok {
					got = ip.String()
				}
				return nil
			}}
			client := serve(t, server{peer: c.peer, service: svc, opts: []connectlimit.Option{connectlimit.ClientIP(c.opts...)}}).with(c.header)
			for name, call := range shapes {
				got = "the method was not called"
				if _, err := call(t.Context(), client); err != nil {
					t.Fatal(err)
				}
				if got != c.want {
					t.Errorf("%s: got client %q, want %q", name, got, c.want)
				}
			}
		})
	}
}

// H07: nobody has an address, and a limit of each address refuses everybody.
func TestPeerWithoutAddressIsNoBypass(t *testing.T) {
	c := serve(t, server{peer: "@", service: NewRateLimitedRated(service{}, newLimiter(t, nil))})
	for name, call := range shapes {
		_, err := call(t.Context(), c)
		r, refused := connectlimit.ReadRefusal(err)
		if !refused || r.RetryAfter != ratelimit.Never {
			t.Errorf("%s: got %v, want a refusal without a wait", name, err)
		}
		if want := "The request does not identify its caller, and its limit is kept for each caller."; r.Message != want {
			t.Errorf("%s: got %q, want %q", name, r.Message, want)
		}
	}
}

// H07: who is on a Unix socket may bind its own end to a file whose name reads as an address, be it a trusted one.
func TestPeerOnAUnixSocketDoesNotChooseItsAddress(t *testing.T) {
	proxies := connectlimit.ClientIP(httplimit.TrustedProxies(netip.MustParsePrefix("10.0.0.0/8")))
	called := 0
	svc := service{func(ctx context.Context) error {
		called++
		if ip, ok := ratelimit.ClientIP(ctx); ok {
			t.Errorf("the client is %v, want nobody", ip)
		}
		return nil
	}}
	socket := func(next http.Handler) http.Handler { // as net/http says what it listens on
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx := context.WithValue(r.Context(), http.LocalAddrContextKey, &net.UnixAddr{Name: "/run/s", Net: "unix"})
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
	c := serve(t, server{peer: "10.0.0.5:1", service: svc, opts: []connectlimit.Option{proxies}, around: socket})
	for name, call := range shapes {
		if _, err := call(t.Context(), c.with(http.Header{"X-Forwarded-For": {"198.51.100.7"}})); err != nil {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if called != len(shapes) {
		t.Errorf("%d calls arrived, want %d", called, len(shapes))
	}
}

// httplimit.Middleware around the handlers has found the client, and adds the fields of the limits, to a refusal as well.
func TestInsideOfMiddleware(t *testing.T) {
	proxies := httplimit.TrustedProxies(netip.MustParsePrefix("10.0.0.0/8"))
	header := http.Header{"X-Forwarded-For": {"198.51.100.7"}, "X-Real-Ip": {"198.51.100.8"}}
	for _, tt := range []struct {
		name string
		opts []connectlimit.Option
		want string
	}{
		{"its client is kept", nil, "198.51.100.7"},
		{"the client is found anew", []connectlimit.Option{connectlimit.ClientIP(proxies, httplimit.ClientIPHeader("X-Real-IP"))}, "198.51.100.8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				svc := service{func(ctx context.Context) error {
					if ip, _ := ratelimit.ClientIP(ctx); ip.String() != tt.want {
						t.Errorf("got client %v, want %s", ip, tt.want)
					}
					return nil
				}}
				c := serve(t, server{
					peer: "10.0.0.5:1", service: NewRateLimitedRated(svc, newLimiter(t, nil)),
					opts: tt.opts, around: httplimit.Middleware(proxies),
				}).with(header)
				if _, err := callUnary(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				_, err := callUnary(t.Context(), c)
				var coded *connect.Error
				if !errors.As(err, &coded) {
					t.Fatalf("got %v, want a refusal", err)
				}
				for name, want := range map[string]string{
					"RateLimit-Policy": `"1m";q=1;w=60`,
					"RateLimit":        `"1m";r=0;t=60`,
					"Retry-After":      "60",
				} {
					if got := coded.Meta().Values(name); len(got) != 1 || got[0] != want {
						t.Errorf("%s: got %q, want %q", name, got, want)
					}
				}
			})
		})
	}
}

func TestCaller(t *testing.T) {
	// It stands for what an interceptor before has verified.
	user := connectlimit.Caller("user", func(_ context.Context, header http.Header) string { return header.Get("User") })
	for name, call := range shapes {
		t.Run(name, func(t *testing.T) {
			guard := newLimiter(t, nil).Guard("m", ratelimit.Rule{Key: "{@user}", Limit: ratelimit.Limit{Count: 1, Period: time.Hour}})
			svc := service{func(ctx context.Context) error { return guard.Allow(ctx) }}
			c := serve(t, server{peer: "203.0.113.9:1", service: svc, opts: []connectlimit.Option{user}})
			for _, step := range []struct {
				user    string
				refused bool
			}{
				{"ann", false},
				{"ann", true},
				{"bob", false},
				{"", true}, // onempty=deny
			} {
				_, err := call(t.Context(), c.with(http.Header{"User": {step.user}}))
				if _, refused := connectlimit.ReadRefusal(err); refused != step.refused || !refused && err != nil {
					t.Errorf("user %q: got %v, want a refusal: %t", step.user, err, step.refused)
				}
			}
		})
	}
}

// What a handler around this one has said of the caller holds where Caller finds nothing.
func TestCallerOfMiddlewareIsKept(t *testing.T) {
	guard := newLimiter(t, nil).Guard("m", ratelimit.Rule{Key: "{@user}", Limit: ratelimit.Limit{Count: 1, Period: time.Hour}})
	c := serve(t, server{
		peer:    "203.0.113.9:1",
		service: service{func(ctx context.Context) error { return guard.Allow(ctx) }},
		opts:    []connectlimit.Option{connectlimit.Caller("user", func(context.Context, http.Header) string { return "" })},
		around:  httplimit.Middleware(httplimit.Caller("user", func(*http.Request) string { return "ann" })),
	})
	if _, err := callUnary(t.Context(), c); err != nil {
		t.Errorf("got %v: the attribute is missing", err)
	}
}

// An Interceptor may be given to a client with all others: it leaves the client's calls alone.
func TestCallsOfClientsAreLeftAlone(t *testing.T) {
	limits, err := connectlimit.NewInterceptor(connectlimit.Caller("user", func(context.Context, http.Header) string {
		t.Error("a client's call was looked into")
		return ""
	}))
	if err != nil {
		t.Fatal(err)
	}
	c := serve(t, server{peer: "203.0.113.9:1", service: service{}, client: []connect.ClientOption{connect.WithInterceptors(limits)}})
	for name, call := range shapes {
		if _, err := call(t.Context(), c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInvalidOptions(t *testing.T) {
	value := func(context.Context, http.Header) string { return "" }
	for _, c := range []struct {
		opts []connectlimit.Option
		want string
	}{
		{[]connectlimit.Option{nil}, "connectlimit: option 1 is nil: want an Option"},
		{[]connectlimit.Option{connectlimit.ClientIP(nil)}, "connectlimit: option 1 is nil: want an AddressOption"},
		{[]connectlimit.Option{connectlimit.ClientIP(httplimit.IPv6Prefix(0))}, "connectlimit: IPv6Prefix(0): want 1 to 128"},
		{[]connectlimit.Option{connectlimit.Caller("", value)}, `connectlimit: Caller(""): want the name of an attribute`},
		{[]connectlimit.Option{connectlimit.Caller("ip", value)}, `connectlimit: Caller("ip"): want another name, since "ip" is the client's address`},
		{[]connectlimit.Option{connectlimit.Caller("user", nil)}, `connectlimit: Caller("user"): want a function, not nil`},
		{
			[]connectlimit.Option{connectlimit.Caller("", value), connectlimit.ClientIP(httplimit.TrustedHops(1)), connectlimit.ClientIP(httplimit.TrustedProxies())}, // all of them
			"connectlimit: Caller(\"\"): want the name of an attribute\nTrustedProxies and TrustedHops: want one of them",
		},
	} {
		if _, err := connectlimit.NewInterceptor(c.opts...); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
