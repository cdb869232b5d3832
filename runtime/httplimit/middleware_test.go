package httplimit_test

import (
	"bytes"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
)

// H15
func TestChosenCallerAttributeIsNotReplacedByTheAddress(t *testing.T) {
	apiKey := httplimit.Caller("key", func(r *http.Request) string { return r.Header.Get("X-Api-Key") })
	for onEmpty, missing := range map[ratelimit.Empty]int{ratelimit.EmptyDeny: 0, ratelimit.EmptyShare: 2, ratelimit.EmptyAllow: 3} {
		guard := newGuard(t, &fakeStore{}, "", ratelimit.Rule{Key: "search:{@key}", Limit: window60(2), OnEmpty: onEmpty})
		h := httplimit.Middleware(apiKey)(limited(guard))
		for key, want := range map[string]int{"k1": 2, "k2": 2, "": missing} {
			passed := 0
			for i := range 3 {
				r := request(fmt.Sprintf("203.0.113.%d:1", i), http.Header{"X-Api-Key": {key}})
				if serve(h, r).status == http.StatusOK {
					passed++
				}
			}
			if passed != want {
				t.Errorf("onempty %d, key %q: %d of 3 passed, want %d", onEmpty, key, passed, want)
			}
		}
	}
}

// Who finds no caller says nothing of the one whom another has found.
func TestEmptyCallerLeavesTheOuterOne(t *testing.T) {
	named := func(name string) func(http.Handler) http.Handler {
		return httplimit.Middleware(httplimit.Caller("user", func(*http.Request) string { return name }))
	}
	for inner, want := range map[string]string{"": "ann", "bob": "bob"} {
		h := named("ann")(named(inner)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if user, _ := ratelimit.Caller(r.Context(), "user"); user != want {
				t.Errorf("inside of %q: the user is %q, want %q", inner, user, want)
			}
		})))
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	}
}

func TestNestedMiddlewareDoesNotRepeatItself(t *testing.T) {
	attribute := func(name string) httplimit.Option {
		return httplimit.Caller(name, func(*http.Request) string { return name })
	}
	proxies := httplimit.TrustedProxies(netip.MustParsePrefix("10.0.0.0/8"))
	header := http.Header{"X-Forwarded-For": {"198.51.100.7"}, "X-Real-Ip": {"192.0.2.9"}}
	for _, c := range []struct {
		name         string
		outer, inner options
		ip           string
	}{
		{"the outer address is kept", options{proxies, attribute("a")}, options{attribute("b")}, "198.51.100.7"},
		{"the inner address is found anew", options{proxies, attribute("a")}, options{proxies, httplimit.ClientIPHeader("X-Real-IP"), attribute("b")}, "192.0.2.9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			guard := newGuard(t, &fakeStore{}, "", ratelimit.Rule{Key: "{@ip}{@a}{@b}", Limit: window60(5)})
			handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if ip, _ := ratelimit.ClientIP(r.Context()); ip.String() != c.ip {
					t.Errorf("client: got %v, want %s", ip, c.ip)
				}
				limited(guard).ServeHTTP(w, r)
			})
			h := httplimit.Middleware(c.outer...)(httplimit.Middleware(c.inner...)(handler))
			res := serve(h, request("10.0.0.5:1", header))
			if res.status != http.StatusOK {
				t.Errorf("got status %d: an attribute is missing", res.status)
			}
			expect(t, res.header, "RateLimit-Policy", `"1m";q=5;w=60`)
			expect(t, res.header, "RateLimit", `"1m";r=4;t=60`)
		})
	}
}

func TestFieldsComeWithoutAWrite(t *testing.T) {
	guard := newGuard(t, &fakeStore{}, "", perSecond)
	allow := func(r *http.Request) {
		if err := guard.Allow(r.Context()); err != nil {
			t.Error(err)
		}
	}
	recovers := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				if recover() != nil {
					w.WriteHeader(http.StatusInternalServerError)
				}
			}()
			next.ServeHTTP(w, r)
		})
	}
	for name, c := range map[string]struct {
		handler func(http.ResponseWriter, *http.Request)
		status  int
	}{
		"nothing": {func(_ http.ResponseWriter, r *http.Request) { allow(r) }, 200},
		"panic":   {func(_ http.ResponseWriter, r *http.Request) { allow(r); panic("oops") }, 500},
		"decided too late": {func(w http.ResponseWriter, r *http.Request) {
			allow(r)
			w.WriteHeader(http.StatusAccepted)
			allow(r)
		}, 202},
	} {
		t.Run(name, func(t *testing.T) {
			guard = newGuard(t, &fakeStore{}, "", perSecond)
			res := serve(recovers(httplimit.Middleware()(http.HandlerFunc(c.handler))), request(peer, nil))
			if res.status != c.status {
				t.Errorf("got status %d, want %d", res.status, c.status)
			}
			expect(t, res.header, "RateLimit", `"1s";r=4;t=1`)
		})
	}
}

func TestInvalidOptionsServeNothingAndSayWhy(t *testing.T) {
	prefix := netip.MustParsePrefix("10.0.0.0/8")
	value := func(*http.Request) string { return "" }
	for _, c := range []struct {
		opts options
		want string
	}{
		{options{nil}, "option 1 is nil: want an Option"},
		{options{httplimit.TrustedProxies(prefix, netip.Prefix{})}, "TrustedProxies(invalid Prefix): want valid prefixes"},
		{options{httplimit.TrustedProxies(netip.MustParsePrefix("::ffff:0:0/80"))}, "TrustedProxies(::ffff:0.0.0.0/80): want at least 96 bits of a prefix of mapped IPv4"},
		{options{httplimit.TrustedHops(0)}, "TrustedHops(0): want at least 1"},
		{options{httplimit.TrustedHops(-1)}, "TrustedHops(-1): want at least 1"},
		{options{httplimit.TrustedHops(1), httplimit.TrustedProxies(prefix)}, "TrustedProxies and TrustedHops: want one of them"},
		{options{httplimit.TrustedHops(2), httplimit.ClientIPHeader("X-Real-IP")}, "TrustedHops(2) of X-Real-Ip: want 1, since that header holds one address"},
		{options{httplimit.ClientIPHeader("X-Real-IP")}, `ClientIPHeader("X-Real-Ip") is never read: want TrustedProxies, TrustedHops or TrustUnixSocket, too`},
		{options{httplimit.ClientIPHeader("")}, `ClientIPHeader(""): want the name of a header`},
		{options{httplimit.ClientIPHeader("X-Real-IP:")}, `ClientIPHeader("X-Real-IP:"): want the name of a header`},
		{options{httplimit.IPv6Prefix(0)}, "IPv6Prefix(0): want 1 to 128"},
		{options{httplimit.IPv6Prefix(129)}, "IPv6Prefix(129): want 1 to 128"},
		{options{httplimit.Caller("", value)}, `Caller(""): want the name of an attribute`},
		{options{httplimit.Caller("ip", value)}, `Caller("ip"): want another name, since "ip" is the client's address`},
		{options{httplimit.Caller("user", nil)}, `Caller("user"): want a function, not nil`},
		{options{httplimit.TrustedHops(0), httplimit.IPv6Prefix(0)}, "TrustedHops(0): want at least 1\nIPv6Prefix(0): want 1 to 128"}, // all of them
	} {
		var logged syncBuffer
		srv := httptest.NewUnstartedServer(httplimit.Middleware(c.opts...)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			t.Errorf("%s: the handler was called", c.want)
		})))
		srv.Config.ErrorLog = log.New(&logged, "", 0)
		srv.Start()
		res := get(t, srv, "/")
		srv.Close()
		if res.status != http.StatusInternalServerError || strings.Contains(res.body, "want") {
			t.Errorf("%s: got %d %s, want 500 without the reason", c.want, res.status, res.body)
		}
		if got := logged.String(); got != "httplimit: invalid options: "+c.want+"\n" {
			t.Errorf("logged %q, want %q", got, c.want)
		}
	}
}

// syncBuffer is a bytes.Buffer for several goroutines.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func BenchmarkMiddleware(b *testing.B) {
	trust := httplimit.TrustedProxies(netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8"))
	forwarded := http.Header{
		"X-Forwarded-For": {"198.51.100.7, 10.0.0.9"},
		"Forwarded":       {`for=198.51.100.7;proto=https, for="[fd00::9]:4711"`},
	}
	for _, c := range []struct {
		name string
		opts options
		ip   string
	}{
		{"peer", nil, "10.0.0.5"},
		{"X-Forwarded-For", options{trust}, "198.51.100.7"},
		{"Forwarded", options{trust, httplimit.ClientIPHeader("Forwarded")}, "198.51.100.7"},
	} {
		// One request to a limited call that is allowed; the limiter itself costs a fixed answer.
		b.Run(c.name, func(b *testing.B) {
			store := &fakeStore{answer: func(ratelimit.Charge) ratelimit.Result {
				return ratelimit.Result{Allowed: true, Limit: 5, Remaining: 4, ResetAfter: 1}
			}}
			guard := newGuard(b, store, "", perSecond)
			h := httplimit.Middleware(c.opts...)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if ip, _ := ratelimit.ClientIP(r.Context()); ip != netip.MustParseAddr(c.ip) {
					b.Fatalf("client: got %v, want %s", ip, c.ip)
				}
				if err := guard.Allow(r.Context()); err != nil {
					b.Fatal(err)
				}
				w.WriteHeader(http.StatusNoContent)
			}))
			r := request("10.0.0.5:4711", forwarded)
			w := &discard{header: make(http.Header)}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				h.ServeHTTP(w, r)
			}
			if got := w.header.Get("RateLimit"); got != `"1s";r=4;t=1` || w.status != http.StatusNoContent {
				b.Fatalf("got status %d and RateLimit %q", w.status, got)
			}
		})
	}
}

// discard is the least ResponseWriter.
type discard struct {
	header http.Header
	status int
}

func (w *discard) Header() http.Header         { return w.header }
func (w *discard) Write(p []byte) (int, error) { return len(p), nil }
func (w *discard) WriteHeader(status int)      { w.status = status }
