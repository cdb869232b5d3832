// Package ginlimit is the limiter's edge to gin: it finds out who is calling, and tells callers where they stand, as
// [httplimit] does for net/http.
//
//	router := gin.New()
//	router.Use(ginlimit.Middleware(httplimit.TrustedProxies(netip.MustParsePrefix("10.0.0.0/8"))))
//
// Decorators of interfaces whose methods are handlers, func(c *gin.Context), answer refused requests by themselves. Those of
// handlers with an error result return it, too, and whoever answers their errors asks [WriteError] first. The refusal of any
// other call is answered by WriteError, or by [Middleware] if the handler hands it to gin:
//
//	user, err := users.Get(c.Request.Context(), c.Param("id"))
//	if err != nil {
//		_ = c.Error(err)
//		return
//	}
//
// Limited calls find the caller in the context of the request. A *gin.Context is a context.Context too, but it has the
// values of that one only if [gin.Engine.ContextWithFallback] is set.
//
// The client's address is found by the rules of httplimit, by default the peer's. Those of [gin.Context.ClientIP], which
// believes every peer by default, do not matter.
package ginlimit

import (
	"context"
	"errors"
	"net/http"
	"reflect"

	"github.com/gin-gonic/gin"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
)

// Middleware returns a handler for [gin.Engine.Use] that does for the handlers behind it what [httplimit.Middleware] does,
// by the same options and by [Caller]. It is safe for concurrent use. The response can flush, hijack, push and stream as
// before.
//
// When the handlers have returned without a response, and one of the errors that they gave to [gin.Context.Error] is of the
// limiter, it is answered as [WriteError] does. Other errors, a response that has begun, and a status below 400 that a handler
// has chosen, are left alone. Handlers between this one and the one that fails may have answered by then, as those do that
// compress and those that answer all errors in one way: put the former around Middleware, and have the latter call WriteError.
//
// One Middleware inside of another adds what its options say, see [httplimit.Middleware]. Options that are wrong leave
// no safe way to serve: every request is then answered 500, and the reason is written to the [http.Server]'s ErrorLog.
func Middleware(opts ...httplimit.Option) gin.HandlerFunc {
	limit := httplimit.Middleware(opts...)
	return func(c *gin.Context) {
		r := c.Request
		s, _ := r.Context().Value(scopeKey{}).(*scope)
		outermost := s == nil || s.context != c
		if outermost {
			s = &scope{context: c, plain: c.Writer}
			r = r.WithContext(context.WithValue(r.Context(), scopeKey{}, s))
		}
		served := false
		limit(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			served = true
			if outermost {
				s.writer = around(c.Writer, w)
			}
			own := s.within(c.Writer)
			c.Request, c.Writer = r, own
			encoding := own.Header()["Content-Encoding"]
			c.Next()
			c.Writer = own // those who have wrapped it have closed what they wrote to
			answerErrors(c, encoding)
		})).ServeHTTP(c.Writer, r)
		if !served {
			c.Abort()
		}
	}
}

// scope is what the Middlewares of a request have in common.
type scope struct {
	context *gin.Context
	plain   gin.ResponseWriter // gin's writer, as the outermost one found it
	writer  gin.ResponseWriter // and with the limits' fields
}

// scopeKey is the key of the *scope in a request's context.
type scopeKey struct{}

// within returns a writer with the limits' fields for one that the context has inside of the outermost Middleware. It is in
// there, unless gin has put its own back, as [gin.Engine.HandleContext] does.
func (s *scope) within(w gin.ResponseWriter) gin.ResponseWriter {
	if reflect.TypeOf(w).Comparable() && w == s.plain {
		return s.writer
	}
	return w
}

// Caller returns an option for [Middleware] that puts an attribute of the caller into the context of each request, as
// [httplimit.Caller] does; but value is called with gin's context, in which those who authenticate callers leave what they
// have found out. Use the Middleware behind them, or another one with this option. The option is for nobody else: without a
// *gin.Context the attribute is missing.
func Caller(name string, value func(c *gin.Context) string) httplimit.Option {
	if value == nil {
		return httplimit.Caller(name, nil) // which says what is wrong
	}
	return httplimit.Caller(name, func(r *http.Request) string {
		s, ok := r.Context().Value(scopeKey{}).(*scope)
		if !ok {
			return ""
		}
		return value(s.context)
	})
}

// WriteError answers a request whose call the limiter did not let pass, as [httplimit.WriteError] does, and keeps the
// handlers that come next from being called. It reports whether err says so; if not, nothing has been done. A response that
// has begun stays as it is: decorators of handlers answer the error that they return.
func WriteError(c *gin.Context, err error) bool {
	if !isOurs(err) {
		return false
	}
	if !c.Writer.Written() {
		httplimit.WriteError(c.Writer, c.Request, err)
	}
	c.Abort()
	return true
}

func isOurs(err error) bool {
	refused, _ := errors.AsType[*ratelimit.LimitError](err)
	undecided, _ := errors.AsType[*ratelimit.DecisionError](err)
	return refused != nil || undecided != nil
}

// answerErrors answers the errors of the limiter that handlers gave to gin. The encoding is that of a body which is written
// now: that of one which was not written is not.
func answerErrors(c *gin.Context, encoding []string) {
	if len(c.Errors) == 0 {
		return
	}
	errs := make([]error, len(c.Errors))
	for i, err := range c.Errors {
		errs[i] = err
	}
	err := errors.Join(errs...)
	status := c.Writer.Status()
	if !isOurs(err) || c.Writer.Written() || status != http.StatusOK && status < http.StatusBadRequest {
		return
	}
	if h := c.Writer.Header(); encoding == nil {
		h.Del("Content-Encoding")
	} else {
		h["Content-Encoding"] = encoding
	}
	WriteError(c, err)
}
