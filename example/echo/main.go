// Echo serves a limited service and limited handlers with echo, calls them as two clients, and shows what they
// are told. It exits with status 0 only if that is what the directives say.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"

	"github.com/labstack/echo/v4"

	"github.com/ratelimitgen/ratelimitgen/example/internal/visit"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/echolimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

//go:generate go tool ratelimitgen

// Greeter is a service, which knows nothing of HTTP.
type Greeter interface {
	// Greet allows each client IP two calls an hour.
	//
	//ratelimit:key=greet count=2 time=1h ip
	Greet(ctx context.Context, name string) (string, error)
}

// Pages are handlers of echo's.
type Pages interface {
	// Orders allows each user one call an hour, from wherever.
	//
	//ratelimit:key=orders count=1 time=1h by=user message="Your orders are the same as before."
	Orders(c echo.Context) error
	// Health is for load balancers, and has no limit.
	Health(c echo.Context) error
}

type service struct{}

func (service) Greet(_ context.Context, name string) (string, error) { return "hello " + name, nil }

func (service) Orders(c echo.Context) error { return c.String(http.StatusOK, "no orders") }
func (service) Health(c echo.Context) error { return c.String(http.StatusOK, "healthy") }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "echo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	limiter, err := ratelimit.New(memlimit.New())
	if err != nil {
		return err
	}
	const ann, bob = "203.0.113.7", "203.0.113.8"
	return visit.Server(ctx, out, handler(limiter), []visit.Call{
		{Client: ann, Path: "/greet/ann", Want: http.StatusOK},
		{Client: ann, Path: "/greet/ann", Want: http.StatusOK},
		{Client: ann, Path: "/greet/ann", Want: http.StatusTooManyRequests},
		{Client: bob, Path: "/greet/bob", Want: http.StatusOK},
		{Client: ann, User: "ann", Path: "/orders", Want: http.StatusOK},
		{Client: bob, User: "ann", Path: "/orders", Want: http.StatusTooManyRequests},
		{Client: ann, User: "bob", Path: "/orders", Want: http.StatusOK},
		{Client: ann, Path: "/orders", Want: http.StatusTooManyRequests}, // nobody
		{Client: ann, Path: "/health", Want: http.StatusOK},
	})
}

// handler serves the service and the handlers behind their limits.
func handler(limiter *ratelimit.Limiter) http.Handler {
	greeter := NewRateLimitedGreeter(service{}, limiter)
	pages := NewRateLimitedPages(service{}, limiter)

	e := echo.New()
	user := echolimit.Caller("user", func(c echo.Context) string {
		user, _ := c.Get("user").(string)
		return user
	})
	e.Use(authenticate, echolimit.Middleware(httplimit.TrustedProxies(visit.Proxy), user))
	e.HTTPErrorHandler = echolimit.ErrorHandler(e.HTTPErrorHandler)
	e.GET("/greet/:name", func(c echo.Context) error {
		text, err := greeter.Greet(c.Request().Context(), c.Param("name"))
		if err != nil {
			return err // a refusal is answered by the error handler
		}
		return c.String(http.StatusOK, text)
	})
	e.GET("/orders", pages.Orders)
	e.GET("/health", pages.Health)
	return e
}

// authenticate takes the user out of a header. A program would take it from a token that it has verified.
func authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Set("user", c.Request().Header.Get("User"))
		return next(c)
	}
}
