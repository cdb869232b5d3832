package httplimit

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

const (
	xForwardedFor = "X-Forwarded-For"
	forwarded     = "Forwarded" // RFC 7239
)

// trust is whom a finder believes, a set.
type trust uint8

const (
	trustProxies trust = 1 << iota // peers in finder.proxies
	trustHops                      // every peer; the client is at finder.hops
	trustUnix                      // peers without an address
)

// subscriberBits is how much of an IPv6 address is the network of a subscriber, who may choose among all addresses in it.
const subscriberBits = 64

// finder finds the client's address. It does not change once it is checked. The zero value believes nobody.
type finder struct {
	trust    trust
	proxies  []netip.Prefix // never of mapped IPv4
	hops     int
	header   string // canonical name of the header to read
	ipv6Bits int    // 0 is subscriberBits
}

// newFinder returns a finder that believes nobody.
func newFinder() finder { return finder{header: xForwardedFor} }

// check returns an error if the options contradict each other.
func (f *finder) check() error {
	list := f.header == xForwardedFor || f.header == forwarded
	switch {
	case f.trust&trustProxies != 0 && f.trust&trustHops != 0:
		return errors.New("TrustedProxies and TrustedHops: want one of them")
	case f.trust == 0 && f.header != xForwardedFor:
		return fmt.Errorf("ClientIPHeader(%q) is never read: want TrustedProxies, TrustedHops or TrustUnixSocket, too", f.header)
	case f.hops > 1 && !list:
		return fmt.Errorf("TrustedHops(%d) of %s: want 1, since that header holds one address", f.hops, f.header)
	}
	return nil
}

// clientIP returns the client's address, an IPv6 one with all but its network cleared. It is the zero Addr if the peer
// has no address and names none. Only a peer that is believed has lines called, with the name of the header that counts.
func (f *finder) clientIP(peer string, lines func(header string) []string) netip.Addr {
	addr := f.find(peer, lines)
	if addr.Is6() {
		if network, err := addr.Prefix(cmp.Or(f.ipv6Bits, subscriberBits)); err == nil {
			return network.Addr()
		}
	}
	return addr
}

func (f *finder) find(remote string, lines func(header string) []string) netip.Addr {
	peer, _ := parseHop(remote) // not an address: stays the zero Addr
	if !f.believes(peer) {
		return peer
	}
	if f.trust&trustHops != 0 {
		return f.count(peer, lines(f.header))
	}
	return f.walk(peer, lines(f.header))
}

func (f *finder) believes(peer netip.Addr) bool {
	switch {
	case !peer.IsValid():
		return f.trust&trustUnix != 0
	case f.trust&trustHops != 0:
		return true
	}
	return f.isProxy(peer)
}

func (f *finder) isProxy(addr netip.Addr) bool {
	return slices.ContainsFunc(f.proxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// walk returns the first address from the right that is no proxy's, or else the last one that it could read.
func (f *finder) walk(peer netip.Addr, lines []string) netip.Addr {
	last := peer
	for addr, ok := range f.fromRight(lines) {
		if !ok {
			return last
		}
		last = addr
		if !f.isProxy(addr) {
			return addr
		}
	}
	return last
}

// count returns the address at the hop that is the client's.
func (f *finder) count(peer netip.Addr, lines []string) netip.Addr {
	n := 0
	for addr, ok := range f.fromRight(lines) {
		if !ok {
			return peer
		}
		if n++; n == f.hops {
			return addr
		}
	}
	return peer
}

// fromRight yields the entries of the header's lines, the nearest proxy's first, and false for one that is no address.
func (f *finder) fromRight(lines []string) iter.Seq2[netip.Addr, bool] {
	switch f.header {
	case xForwardedFor:
		return listFromRight(lines)
	case forwarded:
		return forwardedFromRight(lines)
	}
	return single(lines)
}

// listFromRight reads a comma-separated list of addresses.
func listFromRight(lines []string) iter.Seq2[netip.Addr, bool] {
	return func(yield func(netip.Addr, bool) bool) {
		for _, line := range slices.Backward(lines) {
			for more := true; more; {
				comma := strings.LastIndexByte(line, ',')
				entry := trimBlanks(line[comma+1:])
				if more = comma >= 0; more {
					line = line[:comma]
				}
				if entry != "" && !yield(parseHop(entry)) {
					return
				}
			}
		}
	}
}

// single reads a header that holds one address. Two of them are one too many: then the client's own was not overwritten.
func single(lines []string) iter.Seq2[netip.Addr, bool] {
	return func(yield func(netip.Addr, bool) bool) {
		switch len(lines) {
		case 0:
		case 1:
			yield(parseHop(trimBlanks(lines[0])))
		default:
			yield(netip.Addr{}, false)
		}
	}
}

// parseHop reads an address with or without a port, as balancers write them: 192.0.2.8, 192.0.2.8:38792, 2001:db8::8,
// [2001:db8::8] or [2001:db8::8]:38792.
func parseHop(s string) (netip.Addr, bool) {
	host, port, hasPort := splitPort(s)
	if hasPort && !isPort(port) {
		return netip.Addr{}, false
	}
	return parseHost(host)
}

// parseHost reads an address, in brackets or not. Mapped IPv4 becomes IPv4, and a zone is dropped: it means something on
// the proxy only, and a prefix contains no address with a zone.
func parseHost(s string) (netip.Addr, bool) {
	inner, bracketed := strings.CutPrefix(s, "[")
	if bracketed {
		var closed bool
		if inner, closed = strings.CutSuffix(inner, "]"); !closed {
			return netip.Addr{}, false
		}
	}
	addr, err := netip.ParseAddr(inner)
	if err != nil || bracketed && addr.Is4() {
		return netip.Addr{}, false
	}
	return addr.Unmap().WithZone(""), true
}

// splitPort cuts at the colon before a port. An IPv6 address without brackets has more than one and no port.
func splitPort(s string) (host, port string, found bool) {
	colon := strings.LastIndexByte(s, ':')
	if colon < 0 || !strings.HasPrefix(s, "[") && strings.IndexByte(s, ':') != colon || strings.HasSuffix(s, "]") {
		return s, "", false
	}
	return s[:colon], s[colon+1:], true
}

func isPort(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return err == nil
}

// trimBlanks removes the optional whitespace of RFC 9110.
func trimBlanks(s string) string { return strings.Trim(s, " \t") }
