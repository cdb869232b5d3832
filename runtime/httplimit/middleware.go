// Package httplimit is the limiter's edge to HTTP: it finds out who is calling, and tells callers where they stand.
//
// [Middleware] goes around the whole server. It puts the client's address, and other attributes of the caller, into the
// request's context, where limits with ip=true or by=user find them, and it writes what the limiter decided during the
// request into the response:
//
//	RateLimit-Policy: "1s";q=5;w=1
//	RateLimit: "1s";r=4;t=1
//
// The policy says that the limit named 1s gives 5 units in a window of 1 second; the second field that 4 remain, and that
// after 1 second all are back. The form is that of draft-ietf-httpapi-ratelimit-headers-11.
//
// [WriteError] answers a call that was refused: status 429, a Retry-After and a problem document (RFC 9457). Handlers call
// it with any error:
//
//	user, err := users.Get(r.Context(), id)
//	if httplimit.WriteError(w, r, err) {
//		return
//	}
//
// # The client's address
//
// By default the client is the peer of the connection, and no header is read: anyone can write a header. Behind proxies,
// say which to believe by [TrustedProxies], [TrustedHops] or [TrustUnixSocket]. X-Forwarded-For is then read from its end,
// where the nearest proxy has written, past all trusted addresses; the client is the first that is not trusted. If all of
// them are, it is the leftmost. Several lines of the header count as one. [ClientIPHeader] names another header, which is
// then the only one that is read.
//
// Addresses may have a port, brackets or a zone; an empty entry is passed over. At an entry that is no address, such as
// "unknown", the walk ends: the client is then the last address before it, which may be the peer. Text from a header
// never becomes part of a key unless it is an address.
//
// An IPv4 address mapped into IPv6 counts as IPv4. An IPv6 client is known by its /64 network, since a subscriber may
// choose among all addresses in it, see [IPv6Prefix].
//
// A peer on a Unix socket has no address, whatever name it has bound its end to, and unless [TrustUnixSocket] is given the
// context then holds none: what becomes of the call is for the directive's onempty to say, by default a refusal.
//
// The request's RemoteAddr and headers stay as they are. Middleware belongs outside of any other middleware that rewrites
// RemoteAddr.
package httplimit

import (
	"context"
	"log"
	"net"
	"net/http"
	"strings"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// Middleware returns a function that wraps a handler, so that limited calls know their caller and responses tell where
// the limits stand. See the package comment. The handlers are safe for concurrent use.
//
// Of all limits that were decided until the response began, the header shows the most exhausted one, see
// [ratelimit.MostExhausted] and [AllLimits]. Lines of the same fields that others write are kept. The handler's
// ResponseWriter can flush, hijack, push and ReadFrom if the original one can, and works with [http.ResponseController].
//
// A Middleware inside of another does not repeat its work: the outer one writes the fields that either asks for. The
// inner one determines the client's address anew, by its own options alone, if it has any on that subject.
//
// Options that are wrong or contradict each other leave no safe way to serve, and this function has no error to return:
// every request is then answered 500, and the reason is written to the [http.Server]'s ErrorLog.
func Middleware(opts ...Option) func(http.Handler) http.Handler {
	c, err := newConfig(opts)
	if err != nil {
		return func(http.Handler) http.Handler { return misconfigured(err) }
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.serve(w, r, next) })
	}
}

// recordKey is the context key of the request's *record.
type recordKey struct{}

func (c *config) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	ctx := r.Context()
	outer, nested := ctx.Value(recordKey{}).(*record)
	if !nested || c.onAddress {
		ctx = ratelimit.WithClientIP(ctx, c.clientIP(peerOf(r), r.Header.Values))
	}
	for _, a := range c.callers {
		if value := a.value(r); value != "" {
			ctx = ratelimit.WithCaller(ctx, a.name, value)
		}
	}
	if nested {
		outer.show(c.fields)
		next.ServeHTTP(w, r.WithContext(ctx))
		return
	}

	resp := &response{ResponseWriter: w}
	resp.record.show(c.fields)
	ctx = ratelimit.WithRecorder(ctx, &resp.record)
	ctx = context.WithValue(ctx, recordKey{}, &resp.record)
	// For a handler that writes nothing, and for one that panics inside of a middleware that answers for it.
	defer resp.begin()
	next.ServeHTTP(resp.like(w), r.WithContext(ctx))
}

// peerOf returns the address of a request's peer, empty on a Unix socket: there it is a name that the peer has chosen, and
// that of a file may read as any address.
func peerOf(r *http.Request) string {
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && strings.HasPrefix(local.Network(), "unix") {
		return ""
	}
	return r.RemoteAddr
}

// misconfigured returns a handler that serves nothing and says why to the operator only.
func misconfigured(err error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		logger := log.Default()
		if s, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok && s.ErrorLog != nil {
			logger = s.ErrorLog
		}
		logger.Printf("httplimit: invalid options: %v", err)
		writeProblem(w, r, problem{
			Type:   blank,
			Title:  http.StatusText(http.StatusInternalServerError),
			Status: http.StatusInternalServerError,
		})
	})
}
