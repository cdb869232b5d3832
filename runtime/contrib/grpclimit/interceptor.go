// Package grpclimit is the limiter's edge to gRPC: it finds out who is calling, and tells callers where they stand.
//
// The methods of an [Interceptor] go into the server. They put the client's address, and other attributes of the caller,
// into the context of each call, where limits with ip=true or by=user find them, and turn what the limiter did not let pass
// into a status, see [Error]. What is limited is for the directives to say: a decorator of a service's server interface is
// registered in place of the service.
//
//	limits, err := grpclimit.NewInterceptor()
//	…
//	server := grpc.NewServer(grpc.ChainUnaryInterceptor(limits.Unary), grpc.ChainStreamInterceptor(limits.Stream))
//	greetpb.RegisterGreeterServer(server, NewRateLimitedGreeterServer(greeter, limiter))
//
// A stream is one call: it is charged when its method is called, and holds the slots of a concurrency limit until it ends. gRPC
// calls the method when the stream is opened, but one with a single request when that has arrived: calls whose client does
// not send it are bounded by [grpc.MaxConcurrentStreams] alone.
//
// Clients read a refusal back by [ReadRefusal].
//
// # The client's address
//
// By default the client is the peer of the connection, and no metadata is read: anyone can write metadata. Behind proxies,
// say which to believe, by the options of package httplimit, which also has the rules in full: x-forwarded-for is read from
// its end, past all trusted addresses, and an IPv6 client is known by its /64 network.
//
//	grpclimit.NewInterceptor(grpclimit.ClientIP(httplimit.TrustedProxies(netip.MustParsePrefix("10.0.0.0/8"))))
//
// A peer without an address, as on a Unix socket or in the same process, is no client that is known, unless
// [httplimit.TrustUnixSocket] is given and it names one: what becomes of the call is for the directive's onempty to say, by
// default a refusal.
package grpclimit

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// Interceptor intercepts the calls of a server. Make one by [NewInterceptor]. It is safe for concurrent use.
//
// It belongs inside of interceptors that authenticate, whose findings [Caller] reads, and outside of those that turn errors
// into statuses of their own, unless they leave alone what [Error] changes: an error that has a status already keeps it.
type Interceptor struct{ *config }

// NewInterceptor returns an Interceptor. It returns an error if an option is invalid or options contradict each other.
func NewInterceptor(opts ...Option) (*Interceptor, error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	return &Interceptor{c}, nil
}

// Unary is a [grpc.UnaryServerInterceptor].
func (i *Interceptor) Unary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	resp, err := handler(i.identify(ctx), req)
	if err != nil {
		err = Error(err)
		_ = grpc.SetTrailer(ctx, trailer(err)) // fails only where there is no connection
	}
	return resp, err
}

// Stream is a [grpc.StreamServerInterceptor].
func (i *Interceptor) Stream(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	err := handler(srv, stream{ss, i.identify(ss.Context())})
	if err != nil {
		err = Error(err)
		ss.SetTrailer(trailer(err))
	}
	return err
}

// stream is a stream with another context.
type stream struct {
	grpc.ServerStream
	ctx context.Context
}

// Context implements [grpc.ServerStream].
func (s stream) Context() context.Context { return s.ctx }

// identify returns a context that knows the caller. An address that it holds already, as that of a server inside of
// [httplimit.Middleware], is kept unless there are options on that subject.
func (i *Interceptor) identify(ctx context.Context) context.Context {
	if _, known := ratelimit.ClientIP(ctx); len(i.addresses) > 0 || !known {
		lines := func(key string) []string { return metadata.ValueFromIncomingContext(ctx, key) }
		ctx = ratelimit.WithClientIP(ctx, i.resolver.ClientIP(peerOf(ctx), lines))
	}
	for _, a := range i.callers {
		if value := a.value(ctx); value != "" {
			ctx = ratelimit.WithCaller(ctx, a.name, value)
		}
	}
	return ctx
}

// peerOf returns the address of a call's peer, empty on a Unix socket: there it is a name that the peer has chosen, and that
// of a file may read as any address. Of a server inside of net/http's only that knows the network.
func peerOf(ctx context.Context) string {
	p, ok := peer.FromContext(ctx)
	if !ok || p.Addr == nil || isUnix(p.Addr) {
		return ""
	}
	if local, ok := ctx.Value(http.LocalAddrContextKey).(net.Addr); ok && isUnix(local) {
		return ""
	}
	return p.Addr.String()
}

func isUnix(addr net.Addr) bool { return strings.HasPrefix(addr.Network(), "unix") }

// trailer tells of a refusal after how many seconds to try again, rounded up, for proxies that do not read the details of a
// status. It is a trailer, since by the end of a stream its header may be out.
func trailer(err error) metadata.MD {
	e, ok := err.(*statusError) //nolint:errorlint // deeper down it is not what the caller is told
	if !ok || e.wait == ratelimit.Never {
		return nil
	}
	seconds := int64((e.wait-1)/time.Second) + 1
	return metadata.Pairs("retry-after", strconv.FormatInt(seconds, 10))
}
