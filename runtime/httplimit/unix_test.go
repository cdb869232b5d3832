package httplimit_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"testing"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
)

// H07: who is on a Unix socket may bind its own end to a file whose name reads as an address, be it a trusted one.
func TestPeerOnAUnixSocketDoesNotChooseItsAddress(t *testing.T) {
	proxies := httplimit.TrustedProxies(netip.MustParsePrefix("10.0.0.0/8"))
	for name, test := range map[string]struct {
		opts []httplimit.Option
		want string // nobody if empty
	}{
		"without options":    {nil, ""},
		"trusted proxies":    {[]httplimit.Option{proxies}, ""},
		"hops":               {[]httplimit.Option{httplimit.TrustedHops(1)}, ""},
		"trusted Unix peers": {[]httplimit.Option{httplimit.TrustUnixSocket()}, "198.51.100.7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			var config net.ListenConfig
			l, err := config.Listen(t.Context(), "unix", filepath.Join(t.TempDir(), "s"))
			if err != nil {
				t.Fatal(err)
			}
			srv := httptest.NewUnstartedServer(httplimit.Middleware(test.opts...)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if ip, ok := ratelimit.ClientIP(r.Context()); ok {
					_, _ = io.WriteString(w, ip.String())
				}
			})))
			_ = srv.Listener.Close()
			srv.Listener = l
			srv.Start()
			defer srv.Close()
			for _, own := range []string{"", "10.0.0.5:1", "203.0.113.9:1"} {
				transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
					var d net.Dialer
					if own != "" {
						d.LocalAddr = &net.UnixAddr{Name: own, Net: "unix"}
					}
					return d.DialContext(ctx, "unix", l.Addr().String())
				}}
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://server/", http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("X-Forwarded-For", "198.51.100.7")
				res, err := transport.RoundTrip(r)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(res.Body)
				_ = res.Body.Close()
				transport.CloseIdleConnections()
				if err != nil || string(got) != test.want {
					t.Errorf("bound to %q: the client is %q, %v, want %q", own, got, err, test.want)
				}
			}
		})
	}
}
