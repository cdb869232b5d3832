// Nethttp serves a limited service and limited handlers with the standard mux, calls them as two clients, and shows what they
// are told. It exits with status 0 only if that is what the directives say.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"

	"github.com/ratelimitgen/ratelimitgen/example/internal/visit"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
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

// Pages are HTTP handlers.
type Pages interface {
	// Orders allows each user one call an hour, from wherever.
	//
	//ratelimit:key=orders count=1 time=1h by=user message="Your orders are the same as before."
	Orders(w http.ResponseWriter, r *http.Request)
	// Health is for load balancers, and has no limit.
	Health(w http.ResponseWriter, r *http.Request)
}

type service struct{}

func (service) Greet(_ context.Context, name string) (string, error) { return "hello " + name, nil }

func (service) Orders(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "no orders") }
func (service) Health(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "healthy") }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "nethttp:", err)
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

	mux := http.NewServeMux()
	mux.HandleFunc("GET /greet/{name}", func(w http.ResponseWriter, r *http.Request) {
		text, err := greeter.Greet(r.Context(), r.PathValue("name"))
		switch {
		case httplimit.WriteError(w, r, err): // refused
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(text) // the client has gone if it fails
		}
	})
	mux.HandleFunc("GET /orders", pages.Orders)
	mux.HandleFunc("GET /health", pages.Health)

	// In place of a header, a program would read a token that it has verified.
	user := httplimit.Caller("user", func(r *http.Request) string { return r.Header.Get("User") })
	return httplimit.Middleware(httplimit.TrustedProxies(visit.Proxy), user)(mux)
}
