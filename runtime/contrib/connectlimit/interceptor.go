// Package connectlimit is the limiter's edge to Connect (connectrpc.com/connect): it finds out who is calling, and tells
// callers where they stand, in the protocols Connect, gRPC and gRPC-Web.
//
// An [Interceptor] goes into the handlers. It puts the client's address, and other attributes of the caller, into the
// context of each call, where limits with ip=true or by=user find them, and gives a code to what the limiter did not let
// pass, see [Error]. What is limited is for the directives to say: a decorator of a service's handler interface is handled
// in place of the service.
//
//	limits, err := connectlimit.NewInterceptor()
//	…
//	mux.Handle(greetconnect.NewGreetServiceHandler(NewRateLimitedGreetService(greet, limiter), connect.WithInterceptors(limits)))
//
// A stream is one call: it is charged when its method is called, and holds the slots of a concurrency limit until it ends.
// Connect calls the method when the stream is opened, but one with a single request when that has arrived: calls whose client
// does not send it are bounded by the server alone, see [http.HTTP2Config] and the timeouts of [http.Server].
//
// Clients read a refusal back by [ReadRefusal].
//
// # The client's address
//
// By default the client is the peer of the connection, and no header is read: anyone can write a header. Behind proxies,
// say which to believe, by the options of package httplimit, which also has the rules in full: X-Forwarded-For is read from
// its end, past all trusted addresses, and an IPv6 client is known by its /64 network.
//
//	connectlimit.NewInterceptor(connectlimit.ClientIP(httplimit.TrustedProxies(netip.MustParsePrefix("10.0.0.0/8"))))
//
// A peer without an address, as on a Unix socket, is no client that is known, unless [httplimit.TrustUnixSocket] is given
// and it names one: what becomes of the call is for the directive's onempty to say, by default a refusal.
//
// Inside of [httplimit.Middleware], which also adds the fields RateLimit-Policy and RateLimit to responses, the client is
// the one that it found.
package connectlimit

import (
	"context"
	"net"
	"net/http"
	"strings"

	"connectrpc.com/connect"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// Interceptor intercepts the calls of handlers; those of clients it passes on as they are. Make one by [NewInterceptor]. It
// is safe for concurrent use.
//
// It belongs inside of interceptors that authenticate, whose findings [Caller] reads, and outside of those that give errors
// codes of their own, unless they leave alone what [Error] changes: an error that has a code already keeps it.
type Interceptor struct{ *config }

var _ connect.Interceptor = (*Interceptor)(nil)

// NewInterceptor returns an Interceptor. It returns an error if an option is invalid or options contradict each other.
func NewInterceptor(opts ...Option) (*Interceptor, error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	return &Interceptor{c}, nil
}

// WrapUnary implements [connect.Interceptor].
func (i *Interceptor) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		if req.Spec().IsClient {
			return next(ctx, req)
		}
		resp, err := next(i.identify(ctx, req.Peer(), req.Header()), req)
		return resp, Error(err)
	}
}

// WrapStreamingClient implements [connect.Interceptor]. It returns next.
func (i *Interceptor) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler implements [connect.Interceptor].
func (i *Interceptor) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		return Error(next(i.identify(ctx, conn.Peer(), conn.RequestHeader()), conn))
	}
}

// identify returns a context that knows the caller. An address that it holds already is kept unless there are options on
// that subject.
func (i *Interceptor) identify(ctx context.Context, peer connect.Peer, header http.Header) context.Context {
	if _, known := ratelimit.ClientIP(ctx); len(i.addresses) > 0 || !known {
		ctx = ratelimit.WithClientIP(ctx, i.resolver.ClientIP(peerOf(ctx, peer), header.Values))
	}
	for _, a := range i.callers {
		if value := a.value(ctx, header); value != "" {
			ctx = ratelimit.WithCaller(ctx, a.name, value)
		}
	}
	return ctx
}

// peerOf returns the address of a call's peer, empty on a Unix socket: there it is a name that the peer has chosen, and that
// of a file may read as any address.
func peerOf(ctx context.Context, peer connect.Peer) string {
	if local, ok := ctx.Value(http.LocalAddrContextKey).(net.Addr); ok && strings.HasPrefix(local.Network(), "unix") {
		return ""
	}
	return peer.Addr
}
