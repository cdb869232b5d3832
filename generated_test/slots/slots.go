// Package slots has limits on how many calls run at once.
package slots

import (
	"context"
	"net/http"
)

type Stream interface {
	Context() context.Context
	Send(text string) error
}

type Context context.Context

type Render interface {
	//ratelimit:count=2 algorithm=concurrency
	Plain(ctx context.Context, id string) (string, error)
	//ratelimit:key=render:{id} count=3 algorithm=concurrency time=1m cost={n}
	Cost(n int, id string) error
	// Both holds a slot and counts failures.
	//
	//ratelimit:count=1 algorithm=concurrency name=slots
	//ratelimit:count=2 time=1h refund={err == nil}
	Both(ctx context.Context) error
	//ratelimit:count=1 algorithm=concurrency skip={free}
	Skip(ctx context.Context, free bool) error
	// Stream keeps its own context: nothing can put another one into it.
	//
	//ratelimit:count=1 algorithm=concurrency
	Stream(s Stream) error
	// Defined gets a context that ends with its slot, as it would if the type were that of package context.
	//
	//ratelimit:count=1 algorithm=concurrency
	Defined(ctx Context) error
	// Nil may be called with a request that is.
	//
	//ratelimit:count=1 algorithm=concurrency
	Nil(r *http.Request) error
	//ratelimit:count=1 algorithm=concurrency
	Serve(w http.ResponseWriter, r *http.Request)
	//ratelimit:count=1 algorithm=concurrency
	Call(call string, ctx, ctx2 context.Context, texts ...string) (err error)
}
