// Package http is called like the package of the standard library that it needs.
package http

import (
	"context"
	"net/http"
)

type Client struct{ Name string }

type Handler interface {
	//ratelimit:count=1 time=1h ip
	Handle(w http.ResponseWriter, r *http.Request)
	//ratelimit:count=1 time=1h algorithm=concurrency key=client:{c.Name}
	Do(ctx context.Context, c Client, r *http.Request) (*http.Cookie, error)
}
