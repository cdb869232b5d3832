package httplimit

import (
	"errors"
	"fmt"
	"net/netip"
)

// Resolver finds out who the client is as [Middleware] does, for servers that are not net/http's. Make one by
// [NewResolver]; the zero value is one without options. It is safe for concurrent use.
type Resolver struct{ finder finder }

// NewResolver returns a Resolver with the given options; without any it believes no header. It returns an error if an
// option is invalid or they contradict each other.
func NewResolver(opts ...AddressOption) (*Resolver, error) {
	r := &Resolver{newFinder()}
	var errs []error
	for i, opt := range opts {
		if opt == nil {
			errs = append(errs, fmt.Errorf("option %d is nil: want an AddressOption", i+1))
			continue
		}
		errs = append(errs, opt.applyTo(&r.finder))
	}
	errs = append(errs, r.finder.check())
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return r, nil
}

// ClientIP returns the address of a client by that of its peer, as text with or without a port, and by the lines of the
// header of a name, as [net/http.Header.Values] returns them; lines is not called unless the peer is believed. Of an IPv6
// address it returns the network. It returns the zero Addr if the peer has no address and is not believed, or names nobody.
// The peer on a Unix socket is the empty text: its own may be a file's name that reads as an address, and that it has chosen.
func (r *Resolver) ClientIP(peer string, lines func(header string) []string) netip.Addr {
	return r.finder.clientIP(peer, lines)
}
