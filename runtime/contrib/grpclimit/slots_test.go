package grpclimit_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/grpclimit"
)

// C12, C14: the slot of a call is free again however its method ends, when its client does not wait for that, and when an
// interceptor fails beside it.
func TestSlotOfACallIsReleased(t *testing.T) {
	own := errors.New("the method's own")
	for _, c := range []struct {
		name   string
		during func(context.Context) error
		leaves bool // whether the client goes away in the middle of the call
	}{
		{"returns", func(context.Context) error { return nil }, false},
		{"fails", func(context.Context) error { return own }, false},
		{"panics", func(context.Context) error { panic(own) }, false},
		{"client leaves", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, true},
	} {
		for name, call := range shapes {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					begun := 0
					svc := service{during: func(ctx context.Context) error {
						begun++
						return c.during(ctx)
					}}
					user := grpclimit.Caller("user", func(context.Context) string { return "ann" })
					client := serve(t, "203.0.113.9:1", NewRateLimitedSlotted(svc, newLimiter(t, nil)), []grpclimit.Option{user},
						grpc.ChainUnaryInterceptor(recoverUnary), grpc.ChainStreamInterceptor(recoverStream))
					for i := range 3 {
						ctx, leave := context.WithCancel(t.Context())
						done := make(chan error)
						go func() { done <- call(ctx, client) }()
						if c.leaves {
							synctest.Wait()
							leave()
						}
						if _, refused := grpclimit.ReadRefusal(<-done); refused || begun != i+1 {
							t.Fatalf("call %d: refused %t, %d have begun", i+1, refused, begun)
						}
						leave()
						synctest.Wait() // the server takes note
					}
				})
			})
		}
	}
}

// recovery turns a panic into a status, as interceptors that recover do.
func recovery(err *error) {
	if v := recover(); v != nil {
		*err = status.Errorf(codes.Internal, "recovered: %v", v)
	}
}

func recoverUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (resp any, err error) {
	defer recovery(&err)
	return handler(ctx, req)
}

func recoverStream(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
	defer recovery(&err)
	return handler(srv, ss)
}
