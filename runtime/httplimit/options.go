package httplimit

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
)

// Option changes a [Middleware].
type Option interface{ apply(*config) error }

type optionFunc func(*config) error

func (f optionFunc) apply(c *config) error { return f(c) }

// config is what the options of one Middleware add up to.
type config struct {
	finder
	onAddress bool // whether an option is about the client's address
	callers   []caller
	fields    fields
}

// caller is an attribute of the caller.
type caller struct {
	name  string
	value func(*http.Request) string
}

func newConfig(opts []Option) (*config, error) {
	c := &config{finder: newFinder()}
	var errs []error
	for i, opt := range opts {
		if opt == nil {
			errs = append(errs, fmt.Errorf("option %d is nil: want an Option", i+1))
			continue
		}
		errs = append(errs, opt.apply(c))
	}
	errs = append(errs, c.check())
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return c, nil
}

// AddressOption is an [Option] about the client's address, which a [Resolver] takes, too.
type AddressOption interface {
	Option
	applyTo(*finder) error
}

type addressOption func(*finder) error

func (f addressOption) applyTo(to *finder) error { return f(to) }

func (f addressOption) apply(c *config) error {
	c.onAddress = true
	return f(&c.finder)
}

// TrustedProxies makes a peer whose address is in one of the prefixes believed about the client, and the addresses it
// names passed over while they are in one, too. By default nobody is believed. Give the networks of your proxies only:
// any host in them can pass for any client. List IPv4 and IPv6 networks both if proxies talk over both. Prefixes of
// several TrustedProxies add up; none at all is valid and believes nobody.
func TrustedProxies(prefixes ...netip.Prefix) AddressOption {
	return addressOption(func(f *finder) error {
		f.trust |= trustProxies
		var errs []error
		for _, p := range prefixes {
			switch addr := p.Addr(); {
			case !p.IsValid():
				errs = append(errs, fmt.Errorf("TrustedProxies(%v): want valid prefixes", p))
			case addr.Is4In6() && p.Bits() < 96:
				errs = append(errs, fmt.Errorf("TrustedProxies(%v): want at least 96 bits of a prefix of mapped IPv4", p))
			case addr.Is4In6():
				f.proxies = append(f.proxies, netip.PrefixFrom(addr.Unmap(), p.Bits()-96))
			default:
				f.proxies = append(f.proxies, p)
			}
		}
		return errors.Join(errs...)
	})
}

// TrustedHops says that each request comes through exactly n proxies of yours, n ≥ 1, whatever their addresses: the
// client is the nth entry from the right of X-Forwarded-For. When that entry is missing, or it or one to the right of it
// is not an address, the client is the peer. Use it only where the server cannot be reached but through the proxies,
// since every peer is believed. It excludes [TrustedProxies].
func TrustedHops(n int) AddressOption {
	return addressOption(func(f *finder) error {
		if n < 1 {
			return fmt.Errorf("TrustedHops(%d): want at least 1", n)
		}
		f.trust |= trustHops
		f.hops = n
		return nil
	})
}

// TrustUnixSocket makes a peer without an address, as on a Unix socket, believed as a trusted proxy. By default such a
// peer is not believed, and a request from it has no client address.
func TrustUnixSocket() AddressOption {
	return addressOption(func(f *finder) error {
		f.trust |= trustUnix
		return nil
	})
}

// ClientIPHeader names the header that a trusted proxy tells the client in, in place of X-Forwarded-For, which is then
// not read. "Forwarded" is read as RFC 7239 has it, in the manner of X-Forwarded-For. Any other, e.g. X-Real-IP or
// CF-Connecting-IP, must be one line with one address; if it is not, the client is the peer. Make sure that the proxy
// overwrites what a client sends in it.
func ClientIPHeader(name string) AddressOption {
	return addressOption(func(f *finder) error {
		if !isToken(name) {
			return fmt.Errorf("ClientIPHeader(%q): want the name of a header", name)
		}
		f.header = http.CanonicalHeaderKey(name)
		return nil
	})
}

// IPv6Prefix sets by how many leading bits of its address an IPv6 client is known, 1 to 128. The default is 64, the
// least that a subscriber is given; many get a /56. IPv4 clients are known by the whole address.
func IPv6Prefix(bits int) AddressOption {
	return addressOption(func(f *finder) error {
		if bits < 1 || bits > 128 {
			return fmt.Errorf("IPv6Prefix(%d): want 1 to 128", bits)
		}
		f.ipv6Bits = bits
		return nil
	})
}

// Caller puts an attribute of the caller into each request's context, for limits with by=name or {@name}: value is called
// with the request, by several goroutines at once. If it returns the empty string, nothing is put there: what a Middleware
// around this one has found stays, and otherwise the attribute is missing, and the directive's onempty decides. Take it from
// what has been authenticated: a caller who can choose it can choose its bucket.
func Caller(name string, value func(*http.Request) string) Option {
	return optionFunc(func(c *config) error {
		switch {
		case name == "":
			return errors.New(`Caller(""): want the name of an attribute`)
		case name == "ip":
			return errors.New(`Caller("ip"): want another name, since "ip" is the client's address`)
		case value == nil:
			return fmt.Errorf("Caller(%q): want a function, not nil", name)
		}
		c.callers = append(c.callers, caller{name, value})
		return nil
	})
}

// XRateLimit adds X-RateLimit-Limit (the capacity), X-RateLimit-Remaining, and X-RateLimit-Reset (whole seconds from now
// until all is back, rounded up) of the most exhausted limit to each response, unless the handler has set
// X-RateLimit-Limit itself.
func XRateLimit() Option {
	return optionFunc(func(c *config) error {
		c.fields |= xRateLimit
		return nil
	})
}

// AllLimits makes RateLimit-Policy and RateLimit list every limit that was decided during the request, in the order of
// the decisions, and not only the most exhausted one. A limit that was decided repeatedly is listed once, at its most
// exhausted.
func AllLimits() Option {
	return optionFunc(func(c *config) error {
		c.fields |= allLimits
		return nil
	})
}
