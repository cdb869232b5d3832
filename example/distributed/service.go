package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
)

//go:generate go tool ratelimitgen

// What the directive below says of each user.
const (
	rate  = 12 // orders a second
	burst = 12 // orders at once after a pause
)

// Order is what Place answers.
type Order struct {
	ID   string `json:"id"`
	Item string `json:"item"`
}

// Orders is the service of this example.
type Orders interface {
	// Place allows each user twelve orders a second, in all processes together.
	//
	//ratelimit:key=place rate=12/s by=user
	Place(ctx context.Context, item string) (*Order, error)
}

// bucketOf returns the key under which Redis keeps the bucket of a user.
func bucketOf(user string) string { return "rl:{place:" + user + "}:tb:1s" }

// shop is the implementation, which knows nothing of limits.
type shop struct{}

func (shop) Place(_ context.Context, item string) (*Order, error) {
	return &Order{ID: rand.Text(), Item: item}, nil
}

const (
	userHeader    = "X-User"
	deciderHeader = "X-Decided-By"
	byRedis       = "redis"
	byProcess     = "process"
)

// handler serves the limited service over HTTP. Its answers tell who decided.
func handler(limiter *ratelimit.Limiter) http.Handler {
	orders := NewRateLimitedOrders(shop{}, limiter)

	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders/{item}", func(w http.ResponseWriter, r *http.Request) {
		decider := byRedis
		order, err := orders.Place(context.WithValue(r.Context(), deciderKey{}, &decider), r.PathValue("item"))
		w.Header().Set(deciderHeader, decider)
		if err != nil {
			if !httplimit.WriteError(w, r, err) {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(order) // the client has gone if it fails
	})

	// The gateway in front has authenticated the user, and lets no such header of a client through.
	user := httplimit.Caller("user", func(r *http.Request) string { return r.Header.Get(userHeader) })
	return httplimit.Middleware(user)(mux)
}

type deciderKey struct{}

// telling is the Store that decides while Redis does not, in this process's memory. It tells the call that it did.
type telling struct{ ratelimit.Store }

// Take implements [ratelimit.Store].
func (t telling) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if decider, ok := ctx.Value(deciderKey{}).(*string); ok {
		*decider = byProcess
	}
	return t.Store.Take(ctx, charges, results)
}
