// Package echolimit is the limiter's edge to echo, version 4: it finds out who is calling, and tells callers where they
// stand, as [httplimit] does for net/http.
//
//	e := echo.New()
//	e.Use(echolimit.Middleware(httplimit.TrustedProxies(netip.MustParsePrefix("10.0.0.0/8"))))
//	e.HTTPErrorHandler = echolimit.ErrorHandler(e.HTTPErrorHandler)
//
// Decorators of interfaces whose methods are handlers, func(c echo.Context) error, answer refused requests by themselves.
// The refusal of any other call is answered by [ErrorHandler] once the handler has returned it:
//
//	user, err := users.Get(c.Request().Context(), c.Param("id"))
//	if err != nil {
//		return err
//	}
//
// The client's address is found by the rules of httplimit, by default the peer's. That of echo's RealIP, which believes every
// peer unless [echo.Echo.IPExtractor] is set, does not matter.
package echolimit

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
)

// Middleware returns a middleware for [echo.Echo.Use] that does for the handlers behind it what [httplimit.Middleware]
// does, by the same options and by [Caller]. It is safe for concurrent use. The response stays echo's own, and can flush,
// hijack and stream as before.
//
// One Middleware inside of another adds what its options say, see [httplimit.Middleware]. Options that are wrong leave
// no safe way to serve: every request is then answered 500, and the reason is written to the [http.Server]'s ErrorLog.
func Middleware(opts ...httplimit.Option) echo.MiddlewareFunc {
	limit := httplimit.Middleware(opts...)
	asksEcho := slices.ContainsFunc(opts, func(opt httplimit.Option) bool { _, ok := opt.(callerOption); return ok })
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r, res := c.Request(), c.Response()
			if asksEcho {
				r = r.WithContext(context.WithValue(r.Context(), contextKey{}, c))
			}
			var err error
			served := false
			limit(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				served = true
				res.Writer = w // beneath echo's, which knows what has been written
				c.SetRequest(r)
				err = next(c)
			})).ServeHTTP(res.Writer, r)
			if !served {
				res.Status, res.Committed = http.StatusInternalServerError, true
			}
			return err
		}
	}
}

// Caller returns an option for [Middleware] that puts an attribute of the caller into the context of each request, as
// [httplimit.Caller] does; but value is called with echo's context, in which those who authenticate callers leave what they
// have found out. Use the Middleware behind them, or another one with this option. The option is for nobody else: without an
// echo.Context the attribute is missing.
func Caller(name string, value func(c echo.Context) string) httplimit.Option {
	if value == nil {
		return httplimit.Caller(name, nil) // which says what is wrong
	}
	return callerOption{httplimit.Caller(name, func(r *http.Request) string {
		c, ok := r.Context().Value(contextKey{}).(echo.Context)
		if !ok {
			return ""
		}
		return value(c)
	})}
}

// callerOption is an option that needs an echo.Context.
type callerOption struct{ httplimit.Option }

// contextKey is the key of the echo.Context in a request's context.
type contextKey struct{}

// ErrorHandler returns an error handler that answers the errors of the limiter as [httplimit.WriteError] does, and leaves
// all others to next. An error of the limiter is left to nobody when the response has begun: decorators of handlers have
// answered what they return, and some error handlers do not look whether that was done.
func ErrorHandler(next echo.HTTPErrorHandler) echo.HTTPErrorHandler {
	return func(err error, c echo.Context) {
		refused, _ := errors.AsType[*ratelimit.LimitError](err)
		undecided, _ := errors.AsType[*ratelimit.DecisionError](err)
		switch {
		case refused == nil && undecided == nil:
			next(err, c)
		case !c.Response().Committed:
			httplimit.WriteError(c.Response(), c.Request(), err)
		}
	}
}
