package httplimit_test

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
)

func TestResolver(t *testing.T) {
	proxies := httplimit.TrustedProxies(netip.MustParsePrefix("10.0.0.0/8"))
	for _, c := range []struct {
		name  string
		opts  []httplimit.AddressOption
		peer  string
		lines http.Header
		want  string
	}{
		{"the peer", nil, "203.0.113.9:1", xff("192.0.2.66"), "203.0.113.9"},
		{"an unbelieved peer", []httplimit.AddressOption{proxies}, "203.0.113.9:1", xff("192.0.2.66"), "203.0.113.9"},
		{"a proxy", []httplimit.AddressOption{proxies}, "10.0.0.5:1", xff("192.0.2.66, 198.51.100.7", "10.0.0.9"), "198.51.100.7"},
		{"a network", nil, "[2001:db8:1:2:3:4:5:6]:1", nil, "2001:db8:1:2::"},
		{"another network", []httplimit.AddressOption{httplimit.IPv6Prefix(48)}, "[2001:db8:1:2:3:4:5:6]:1", nil, "2001:db8:1::"},
		{"another header", []httplimit.AddressOption{proxies, httplimit.ClientIPHeader("forwarded")}, "10.0.0.5:1", http.Header{"Forwarded": {"for=198.51.100.7"}}, "198.51.100.7"},
		{"hops", []httplimit.AddressOption{httplimit.TrustedHops(2)}, "203.0.113.9:1", xff("198.51.100.7, 10.0.0.9"), "198.51.100.7"},
		{"no address", nil, "bufconn", xff("192.0.2.66"), "invalid IP"},
		{"a believed peer without an address", []httplimit.AddressOption{httplimit.TrustUnixSocket()}, "@", xff("198.51.100.7"), "198.51.100.7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			resolver, err := httplimit.NewResolver(c.opts...)
			if err != nil {
				t.Fatal(err)
			}
			if got := resolver.ClientIP(c.peer, c.lines.Values).String(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestResolverReadsNoHeaderOfAnUnbelievedPeer(t *testing.T) {
	resolver, err := httplimit.NewResolver(httplimit.TrustedProxies(netip.MustParsePrefix("10.0.0.0/8")))
	if err != nil {
		t.Fatal(err)
	}
	lines := func(header string) []string {
		t.Errorf("%s was read", header)
		return nil
	}
	if got := resolver.ClientIP("203.0.113.9:1", lines); got != netip.MustParseAddr("203.0.113.9") {
		t.Errorf("got %v, want the peer", got)
	}
}

func TestNewResolverRefusesWhatMiddlewareDoes(t *testing.T) {
	_, err := httplimit.NewResolver(nil, httplimit.IPv6Prefix(0), httplimit.ClientIPHeader("X-Real-IP"))
	want := `option 1 is nil: want an AddressOption
IPv6Prefix(0): want 1 to 128
ClientIPHeader("X-Real-Ip") is never read: want TrustedProxies, TrustedHops or TrustUnixSocket, too`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// Who does not know of NewResolver must not put all clients of IPv6 into one bucket.
func TestZeroResolver(t *testing.T) {
	var resolver httplimit.Resolver
	lines := func(header string) []string {
		t.Errorf("%s was read", header)
		return nil
	}
	for peer, want := range map[string]string{"[2001:db8:1:2:3:4:5:6]:1": "2001:db8:1:2::", "203.0.113.9:1": "203.0.113.9"} {
		if got := resolver.ClientIP(peer, lines).String(); got != want {
			t.Errorf("%s: got %s, want %s", peer, got, want)
		}
	}
}
