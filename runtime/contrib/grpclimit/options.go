package grpclimit

import (
	"context"
	"errors"
	"fmt"

	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
)

// Option changes an [Interceptor] at its construction.
type Option interface{ apply(*config) error }

type optionFunc func(*config) error

func (f optionFunc) apply(c *config) error { return f(c) }

// config is what the options of one Interceptor add up to.
type config struct {
	addresses []httplimit.AddressOption
	resolver  *httplimit.Resolver
	callers   []caller
}

// caller is an attribute of the caller.
type caller struct {
	name  string
	value func(context.Context) string
}

func newConfig(opts []Option) (*config, error) {
	c := &config{}
	var errs []error
	for i, opt := range opts {
		if opt == nil {
			errs = append(errs, fmt.Errorf("option %d is nil: want an Option", i+1))
			continue
		}
		errs = append(errs, opt.apply(c))
	}
	var err error
	c.resolver, err = httplimit.NewResolver(c.addresses...)
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, fmt.Errorf("grpclimit: %w", err)
	}
	return c, nil
}

// ClientIP says whom to believe about the client's address, and in which metadata: [httplimit.TrustedProxies],
// [httplimit.TrustedHops], [httplimit.TrustUnixSocket], [httplimit.ClientIPHeader] and [httplimit.IPv6Prefix]. By default
// the client is the peer. Several ClientIP add up.
func ClientIP(opts ...httplimit.AddressOption) Option {
	return optionFunc(func(c *config) error {
		c.addresses = append(c.addresses, opts...)
		return nil
	})
}

// Caller puts an attribute of the caller into each call's context, for limits with by=name or {@name}: value is called with
// the context of the call, by several goroutines at once. If it returns the empty string, nothing is put there: what the
// context holds already stays, and otherwise the attribute is missing, and the directive's onempty decides. Take it from what
// has been authenticated, such as the peer's certificate or what an interceptor before this one has left in the context: a
// caller who can choose it, as by metadata, can choose its bucket.
func Caller(name string, value func(ctx context.Context) string) Option {
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
