package httplimit_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
)

type options []httplimit.Option

// trusted believes 10.0.0.0/8 and fd00::/8.
func trusted(more ...httplimit.Option) options {
	proxies := httplimit.TrustedProxies(netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8"))
	return append(options{proxies}, more...)
}

func xff(lines ...string) http.Header { return http.Header{"X-Forwarded-For": lines} }

// clientIP returns the address that a handler sees, or "" if there is none.
func clientIP(opts options, remoteAddr string, header http.Header) string {
	got := "the handler was not called"
	h := httplimit.Middleware(opts...)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = ""
		if addr, ok := ratelimit.ClientIP(r.Context()); ok {
			got = addr.String()
		}
		if r.RemoteAddr != remoteAddr {
			got = fmt.Sprintf("RemoteAddr was rewritten to %q", r.RemoteAddr)
		}
	}))
	serve(h, request(remoteAddr, header))
	return got
}

type addressCase struct {
	name   string
	opts   options
	peer   string
	header http.Header
	want   string
}

func runAddressCases(t *testing.T, cases []addressCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := clientIP(c.opts, c.peer, c.header); got != c.want {
				t.Errorf("client of peer %q, header %q: got %q, want %q", c.peer, c.header, got, c.want)
			}
		})
	}
}

// H01
func TestClientHeadersAreNotBelievedWithoutTrustedProxy(t *testing.T) {
	forged := func(i int) http.Header {
		addr := fmt.Sprintf("192.0.2.%d", i%256)
		return http.Header{
			"True-Client-IP":   {addr},
			"X-Real-IP":        {addr},
			"X-Forwarded-For":  {addr},
			"Forwarded":        {"for=" + addr},
			"CF-Connecting-IP": {addr},
		}
	}
	for name, opts := range map[string]options{
		"default":           nil,
		"untrusted peer":    trusted(),
		"named header":      trusted(httplimit.ClientIPHeader("X-Real-IP")),
		"Forwarded":         trusted(httplimit.ClientIPHeader("Forwarded")),
		"nobody is trusted": {httplimit.TrustedProxies(), httplimit.ClientIPHeader("X-Real-IP")},
		"Unix sockets only": {httplimit.TrustUnixSocket()},
	} {
		t.Run(name, func(t *testing.T) {
			if got := clientIP(opts, peer, forged(1)); got != "203.0.113.9" {
				t.Errorf("client: got %q, want the peer", got)
			}
			guard := newGuard(t, &fakeStore{}, "", ratelimit.Rule{Key: "{@ip}", Limit: window60(5)})
			h := httplimit.Middleware(opts...)(limited(guard))
			passed := 0
			for i := range 200 {
				if serve(h, request(peer, forged(i))).status == http.StatusOK {
					passed++
				}
			}
			if passed != 5 {
				t.Errorf("%d of 200 requests with rotating headers passed, want 5", passed)
			}
		})
	}
}

// H02
func TestForwardedForIsWalkedFromTheRight(t *testing.T) {
	hops := func(n int) options { return options{httplimit.TrustedHops(n)} }
	runAddressCases(t, []addressCase{
		{"first untrusted", trusted(), "10.0.0.5:1", xff("192.0.2.66, 198.51.100.7, 10.0.0.9"), "198.51.100.7"},
		{"all trusted: the leftmost", trusted(), "10.0.0.5:1", xff("10.0.0.9, 10.0.0.8"), "10.0.0.9"},
		{"empty", trusted(), "10.0.0.5:1", xff(""), "10.0.0.5"},
		{"absent", trusted(), "10.0.0.5:1", nil, "10.0.0.5"},
		{"lines are joined", trusted(), "10.0.0.5:1", xff("192.0.2.66", "198.51.100.7", "10.0.0.9"), "198.51.100.7"},
		{"lines and lists", trusted(), "10.0.0.5:1", xff("192.0.2.66,198.51.100.7", "10.0.0.9,10.0.0.8"), "198.51.100.7"},
		{"empty entries", trusted(), "10.0.0.5:1", xff(", 198.51.100.7 ,,", "", " , 10.0.0.9"), "198.51.100.7"},
		{"garbage behind the client", trusted(), "10.0.0.5:1", xff("'; drop table, 198.51.100.7"), "198.51.100.7"},
		{"garbage before the client: the last good hop", trusted(), "10.0.0.5:1", xff("198.51.100.7, unknown, 10.0.0.9"), "10.0.0.9"},

		{"hops", hops(3), "10.0.0.3:1", xff("198.51.100.7, 10.0.0.1, 10.0.0.2"), "198.51.100.7"},
		{"hops with forged entries", hops(3), "10.0.0.3:1", xff("192.0.2.66", "198.51.100.7, 10.0.0.1, 10.0.0.2"), "198.51.100.7"},
		{"one hop", hops(1), "10.0.0.3:1", xff("192.0.2.66, 198.51.100.7"), "198.51.100.7"},
		{"chain shorter than hops", hops(3), "10.0.0.3:1", xff("198.51.100.7"), "10.0.0.3"},
		{"no chain", hops(3), "10.0.0.3:1", nil, "10.0.0.3"},
		{"garbage at the hop", hops(2), "10.0.0.3:1", xff("unknown, 10.0.0.2"), "10.0.0.3"},
		{"garbage before the hop", hops(2), "10.0.0.3:1", xff("198.51.100.7, unknown"), "10.0.0.3"},
		{"hops of Forwarded", append(hops(2), httplimit.ClientIPHeader("forwarded")), "10.0.0.3:1", http.Header{"Forwarded": {"for=192.0.2.66, for=198.51.100.7", "for=10.0.0.2"}}, "198.51.100.7"},
		{"hops and a Unix socket", append(hops(1), httplimit.TrustUnixSocket()), "@", xff("192.0.2.66, 198.51.100.7"), "198.51.100.7"},
		{"hops and an unbelieved Unix socket", hops(1), "@", xff("198.51.100.7"), ""},
	})
}

// H03
func TestHeaderIsReadOnlyIfNamed(t *testing.T) {
	realIP := http.Header{"X-Real-IP": {"192.0.2.66"}}
	both := http.Header{"X-Real-IP": {"198.51.100.7"}, "X-Forwarded-For": {"192.0.2.66"}, "Forwarded": {"for=192.0.2.67"}}
	runAddressCases(t, []addressCase{
		{"X-Real-IP beside X-Forwarded-For", trusted(), "10.0.0.5:1", realIP, "10.0.0.5"},
		{"named", trusted(httplimit.ClientIPHeader("x-real-ip")), "10.0.0.5:1", both, "198.51.100.7"},
		{"named but absent", trusted(httplimit.ClientIPHeader("CF-Connecting-IP")), "10.0.0.5:1", both, "10.0.0.5"},
		{"named X-Forwarded-For", trusted(httplimit.ClientIPHeader("x-forwarded-for")), "10.0.0.5:1", both, "192.0.2.66"},
		{"one hop, named", options{httplimit.TrustedHops(1), httplimit.ClientIPHeader("X-Real-IP")}, "192.0.2.1:1", both, "198.51.100.7"},
		{
			"two lines: the proxy did not overwrite the client's", trusted(httplimit.ClientIPHeader("X-Real-IP")),
			"10.0.0.5:1",
			http.Header{"X-Real-IP": {"192.0.2.66", "198.51.100.7"}},
			"10.0.0.5",
		},
		{
			"a list where one address is due", trusted(httplimit.ClientIPHeader("X-Real-IP")),
			"10.0.0.5:1",
			http.Header{"X-Real-IP": {"192.0.2.66, 198.51.100.7"}},
			"10.0.0.5",
		},
	})
}

// H04
func TestPortsAndBracketsAreRead(t *testing.T) {
	for entry, want := range map[string]string{
		"192.0.2.8:38792":              "192.0.2.8",
		"[2001:db8::8]":                "2001:db8::",
		"[2001:db8::8]:38792":          "2001:db8::",
		" 192.0.2.8 ":                  "192.0.2.8",
		"\t192.0.2.8":                  "192.0.2.8",
		"2001:DB8::8":                  "2001:db8::",
		"2001:0db8:0:0:0::8":           "2001:db8::",
		"::ffff:192.0.2.8":             "192.0.2.8",
		"[::ffff:192.0.2.8]:1":         "192.0.2.8",
		"[fe80::1%eth0]:1":             "fe80::",
		"abc":                          "10.0.0.5",
		"192.0.2.8:99999":              "10.0.0.5",
		"192.0.2.8:":                   "10.0.0.5",
		"192.0.2.8:+1":                 "10.0.0.5",
		"192.0.2.8:_p":                 "10.0.0.5",
		"[192.0.2.8]":                  "10.0.0.5",
		"[2001:db8::8":                 "10.0.0.5",
		"2001:db8::8]":                 "10.0.0.5",
		"[2001:db8::8]x":               "10.0.0.5",
		"[[2001:db8::8]]":              "10.0.0.5",
		"[]":                           "10.0.0.5",
		"192.0.2.08":                   "10.0.0.5",
		"192.0.2":                      "10.0.0.5",
		"192.0.2.8/32":                 "10.0.0.5",
		"192.0.2.8 192.0.2.9":          "10.0.0.5",
		"192.0.2.8%eth0":               "10.0.0.5",
		`"192.0.2.8"`:                  "10.0.0.5",
		"localhost":                    "10.0.0.5",
		":":                            "10.0.0.5",
		strings.Repeat("1", 1<<16):     "10.0.0.5",
		strings.Repeat("[", 1<<16):     "10.0.0.5",
		"1" + strings.Repeat(".1", 99): "10.0.0.5",
	} {
		if got := clientIP(trusted(), "10.0.0.5:1", xff(entry)); got != want {
			t.Errorf("X-Forwarded-For: %.40q: got client %q, want %q", entry, got, want)
		}
	}
}

// H05
func TestIPv6ProxiesAreTrusted(t *testing.T) {
	const c4, c6, net6 = "198.51.100.7", "2001:db8::7", "2001:db8::"
	mapped := options{httplimit.TrustedProxies(netip.MustParsePrefix("::ffff:10.0.0.0/104"))}
	runAddressCases(t, []addressCase{
		{"4: c4", trusted(), "10.0.0.1:1", xff(c4), c4},
		{"4: c6", trusted(), "10.0.0.1:1", xff(c6), net6},
		{"4: c4, 4", trusted(), "10.0.0.1:1", xff(c4 + ", 10.0.0.2"), c4},
		{"4: c4, 6", trusted(), "10.0.0.1:1", xff(c4 + ", fd00::2"), c4},
		{"4: c6, 6", trusted(), "10.0.0.1:1", xff(c6 + ", fd00::2"), net6},
		{"6: c4", trusted(), "[fd00::1]:1", xff(c4), c4},
		{"6: c6", trusted(), "[fd00::1]:1", xff(c6), net6},
		{"6: c4, 4", trusted(), "[fd00::1]:1", xff(c4 + ", 10.0.0.2"), c4},
		{"6: c6, 4", trusted(), "[fd00::1]:1", xff(c6 + ", 10.0.0.2"), net6},
		{"mapped peer", trusted(), "[::ffff:10.0.0.1]:1", xff(c4), c4},
		{"mapped hop", trusted(), "10.0.0.1:1", xff(c4 + ", ::ffff:10.0.0.2"), c4},
		{"mapped prefix", mapped, "10.0.0.1:1", xff(c4 + ", ::ffff:10.0.0.2"), c4},
		{"outside a mapped prefix", mapped, "11.0.0.1:1", xff(c4), "11.0.0.1"},
		{"zone", trusted(), "[fd00::1%eth0]:1", xff(c4), c4},
	})
}

// H06
func TestIPv6IsGroupedAndMappedIPv4IsNot(t *testing.T) {
	prefix := func(bits int) options { return options{httplimit.IPv6Prefix(bits)} }
	runAddressCases(t, []addressCase{
		{"one subscriber", nil, "[2001:db8:1:2:3:4:5:6]:1", nil, "2001:db8:1:2::"},
		{"the same subscriber", nil, "[2001:db8:1:2:aaaa:bbbb:cccc:dddd]:1", nil, "2001:db8:1:2::"},
		{"another subscriber", nil, "[2001:db8:1:3::1]:1", nil, "2001:db8:1:3::"},
		{"mapped", nil, "[::ffff:192.0.2.1]:1", nil, "192.0.2.1"},
		{"another mapped", nil, "[::ffff:192.0.2.2]:1", nil, "192.0.2.2"},
		{"zone", nil, "[fe80::1%eth0]:1", nil, "fe80::"},
		{"/56", prefix(56), "[2001:db8:1:2ff:3:4:5:6]:1", nil, "2001:db8:1:200::"},
		{"/128", prefix(128), "[2001:db8::8]:1", nil, "2001:db8::8"},
		{"/1", prefix(1), "[2001:db8::8]:1", nil, "::"},
		{"IPv4 whatever the prefix", prefix(1), "192.0.2.1:1", nil, "192.0.2.1"},
	})
}

// H07
func TestPeerWithoutAddressIsNoBypass(t *testing.T) {
	unix := options{httplimit.TrustUnixSocket()}
	runAddressCases(t, []addressCase{
		{"@", nil, "@", xff("192.0.2.66"), ""},
		{"empty", nil, "", xff("192.0.2.66"), ""},
		{"pipe", nil, "pipe", xff("192.0.2.66"), ""},
		{"proxies are trusted, sockets are not", trusted(), "@", xff("192.0.2.66"), ""},
		{"no port", nil, "192.0.2.1", nil, "192.0.2.1"},
		{"IPv6", nil, "[2001:db8::1]:80", nil, "2001:db8::"},
		{"trusted socket", unix, "@", xff("192.0.2.66, 198.51.100.7"), "198.51.100.7"},
		{"trusted socket, no header", unix, "@", nil, ""},
		{"trusted socket, garbage", unix, "@", xff("unknown"), ""},
		{"trusted socket and proxies", trusted(unix...), "@", xff("192.0.2.66, 198.51.100.7, 10.0.0.9"), "198.51.100.7"},
	})

	guard := newGuard(t, &fakeStore{}, "", perSecond)
	res := serve(httplimit.Middleware()(limited(guard)), request("@", nil))
	if res.status != http.StatusTooManyRequests {
		t.Errorf("a limit by ip without an address: got status %d, want 429", res.status)
	}
}

// H08
func TestForwardedIsParsed(t *testing.T) {
	const proxy = "10.0.0.5"
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{[]string{`for=192.0.2.60;proto=http;by=203.0.113.43`}, "192.0.2.60"},
		{[]string{`For="[2001:db8:cafe::17]:4711"`}, "2001:db8:cafe::"},
		{[]string{`for=unknown`}, proxy},
		{[]string{`for=_hidden`}, proxy},
		{[]string{`for="192.0.2.1:_p"`}, "192.0.2.1"},
		{[]string{`for="[2001:db8::1]:_p"`}, "2001:db8::"},
		{[]string{`for=2001:db8::1`}, proxy},
		{[]string{`for="2001:db8::1"`}, proxy},            // brackets are required in quotes, too
		{[]string{`for=[::ffff:192.0.2.4]`}, "192.0.2.4"}, // unquoted, as HAProxy has it
		{[]string{`for=192.0.2.1:4711`}, "192.0.2.1"},     // unquoted
		{[]string{`for=192.0.2.66`, `for=198.51.100.7`}, "198.51.100.7"},
		{[]string{`for=192.0.2.66, for=198.51.100.7`, `for=10.0.0.9`}, "198.51.100.7"},
		{[]string{`for=10.0.0.9, for=10.0.0.8`}, "10.0.0.9"},
		{[]string{`proto=https;host=a.example;for=192.0.2.60`}, "192.0.2.60"},
		{[]string{` for=192.0.2.60 ; proto=http , ,`}, "192.0.2.60"},
		{[]string{`for="192\.0.2.60"`}, "192.0.2.60"}, // a quoted pair
		{[]string{`ext="a,b;for=192.0.2.66\"";for=192.0.2.60`}, "192.0.2.60"},
		{[]string{`for=192.0.2.66, proto=http`}, proxy}, // the nearest proxy names nobody
		{[]string{`for=192.0.2.66, for=unknown, for=10.0.0.9`}, "10.0.0.9"},
		{[]string{`for="192.0.2.66`, `for=198.51.100.7`}, "198.51.100.7"}, // the open quote ends with its line
		{[]string{`for="192.0.2.66, for=198.51.100.7`}, proxy},
		{[]string{`for=192.0.2.66;x=", for="[2001:db8::1]"`}, proxy}, // a client's quote swallows the proxy's element
		{[]string{`for=192.0.2.1;for=192.0.2.2`}, proxy},
		{[]string{`for=`}, proxy},
		{[]string{`for=""`}, proxy},
		{[]string{`for="\`}, proxy},
		{[]string{`for = 192.0.2.1`}, proxy},
		{[]string{`for=192.0.2.1 192.0.2.2`}, proxy},
		{[]string{`192.0.2.1`}, proxy},
		{[]string{`=192.0.2.1`}, proxy},
		{[]string{`for="192.0.2.1:_"`}, proxy},
		{[]string{`for="192.0.2.1:_p q"`}, proxy},
		{[]string{`for="192.0.2.1:99999"`}, proxy},
		{[]string{``}, proxy},
		{[]string{`;,;`}, proxy},
		{nil, proxy},
	} {
		got := clientIP(trusted(httplimit.ClientIPHeader("Forwarded")), "10.0.0.5:1", http.Header{"Forwarded": c.lines})
		if got != c.want {
			t.Errorf("Forwarded: %q: got client %q, want %q", c.lines, got, c.want)
		}
	}
}

// FuzzClientIP checks that no header makes a client of anything but the peer or an address that stands in the header.
func FuzzClientIP(f *testing.F) {
	for _, seed := range []string{
		"192.0.2.66, 198.51.100.7, 10.0.0.9",
		"[2001:db8::8]:38792, fd00::1",
		"[fe80::1%eth0]:1,::ffff:192.0.2.1",
		`for=192.0.2.60;proto=http;by=203.0.113.43, For="[2001:db8:cafe::17]:4711"`,
		`for="192.0.2.1:_p";ext="a,\"b;",for=unknown` + "\n" + `for=_hidden, for=[::ffff:192.0.2.4]`,
	} {
		f.Add("10.0.0.5:1", seed)
		f.Add("@", seed)
	}
	whole := httplimit.IPv6Prefix(128)
	configs := []struct {
		header string
		opts   options
	}{
		{"X-Forwarded-For", trusted(whole, httplimit.TrustUnixSocket())},
		{"X-Forwarded-For", options{whole, httplimit.TrustedHops(2), httplimit.TrustUnixSocket()}},
		{"Forwarded", trusted(whole, httplimit.ClientIPHeader("Forwarded"), httplimit.TrustUnixSocket())},
		{"Forwarded", options{whole, httplimit.TrustedHops(2), httplimit.ClientIPHeader("Forwarded")}},
		{"X-Real-Ip", trusted(whole, httplimit.ClientIPHeader("X-Real-IP"))},
	}
	f.Fuzz(func(t *testing.T, remoteAddr, text string) {
		lines := strings.Split(text, "\n")
		literal := addressesIn(text)
		for addr := range addressesIn(remoteAddr) {
			literal[addr] = true
		}
		for _, c := range configs {
			got := clientIP(c.opts, remoteAddr, http.Header{c.header: lines})
			if got != "" && !literal[got] {
				t.Errorf("%s: %q from %q: client %q stands nowhere", c.header, lines, remoteAddr, got)
			}
		}
	})
}

// addressesIn returns every address that some reading of text could find in it.
func addressesIn(text string) map[string]bool {
	found := make(map[string]bool)
	add := func(s string) {
		s, _, _ = strings.Cut(s, "%")
		if addr, err := netip.ParseAddr(s); err == nil {
			found[addr.Unmap().String()] = true
		}
	}
	delimiters := func(c rune) bool { return strings.ContainsRune(" \t\n,;=\"[]", c) }
	for _, s := range append(strings.FieldsFunc(strings.ReplaceAll(text, `\`, ""), delimiters), text) {
		add(s)
		if colon := strings.LastIndexByte(s, ':'); colon >= 0 {
			add(s[:colon])
		}
	}
	return found
}
