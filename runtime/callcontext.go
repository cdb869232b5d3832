package ratelimit

import (
	"context"
	"fmt"
	"net/netip"
)

// callContext holds what limits ask of the context of each call in one piece, so that they find it by one look, and an
// address as it stands in keys, so that it is written once for all limits of all calls of a request.
type callContext struct {
	context.Context
	recorder Recorder
	records  bool  // whether it was made to hold a recorder, rather than an address
	part     uint8 // length of text
	text     [maxAddr]byte
	addr     netip.Addr
}

type callContextKey struct{}

// callContextOf returns what ctx holds of it, which is not to be changed, or nil.
func callContextOf(ctx context.Context) *callContext {
	if c, ok := ctx.(*callContext); ok {
		return c
	}
	c, _ := ctx.Value(callContextKey{}).(*callContext)
	return c
}

// newCallContext returns a child of ctx that holds the same.
func newCallContext(ctx context.Context) *callContext {
	c := new(callContext)
	if outer := callContextOf(ctx); outer != nil {
		*c = *outer
	}
	c.Context, c.records = ctx, false
	return c
}

// Value implements [context.Context].
func (c *callContext) Value(key any) any {
	if _, ok := key.(callContextKey); ok {
		return c
	}
	return c.Context.Value(key)
}

// String returns it as contexts of the standard library do, so that nobody prints what it holds by looking into that.
func (c *callContext) String() string {
	if c.records {
		return fmt.Sprintf("%v.WithRecorder", c.Context)
	}
	return fmt.Sprintf("%v.WithClientIP(%v)", c.Context, c.addr)
}
