// Gin serves a limited service and limited handlers with gin, calls them as two clients, and shows what they
// are told. It exits with status 0 only if that is what the directives say.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"

	"github.com/gin-gonic/gin"

	"github.com/ratelimitgen/ratelimitgen/example/internal/visit"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/ginlimit"
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

// Pages are handlers of gin's.
type Pages interface {
	// Orders allows each user one call an hour, from wherever.
	//
	//ratelimit:key=orders count=1 time=1h by=user message="Your orders are the same as before."
	Orders(c *gin.Context)
	// Health is for load balancers, and has no limit.
	Health(c *gin.Context)
}

type service struct{}

func (service) Greet(_ context.Context, name string) (string, error) { return "hello " + name, nil }

func (service) Orders(c *gin.Context) { c.String(http.StatusOK, "no orders") }
func (service) Health(c *gin.Context) { c.String(http.StatusOK, "healthy") }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gin:", err)
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

	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	user := ginlimit.Caller("user", func(c *gin.Context) string { return c.GetString("user") })
	router.Use(authenticate, ginlimit.Middleware(httplimit.TrustedProxies(visit.Proxy), user))
	router.GET("/greet/:name", func(c *gin.Context) {
		text, err := greeter.Greet(c.Request.Context(), c.Param("name"))
		if err != nil {
			_ = c.Error(err) // a refusal is answered by the middleware
			return
		}
		c.String(http.StatusOK, text)
	})
	router.GET("/orders", pages.Orders)
	router.GET("/health", pages.Health)
	return router
}

// authenticate takes the user out of a header. A program would take it from a token that it has verified.
func authenticate(c *gin.Context) { c.Set("user", c.GetHeader("User")) }
