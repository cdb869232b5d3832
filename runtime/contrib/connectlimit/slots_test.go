package connectlimit_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/connectlimit"
)

// C12, C14: the slot of a call is free again however its method ends, and when its client does not wait for that.
func TestSlotOfACallIsReleased(t *testing.T) {
	own := errors.New("the method's own")
	for _, tt := range []struct {
		name   string
		during func(context.Context) error
		leaves bool // whether the client goes away in the middle of the call
	}{
		{"returns", func(context.Context) error { return nil }, false},
		{"fails", func(context.Context) error { return own }, false},
		{"panics", func(context.Context) error { panic(own) }, false},
		{"aborts", func(context.Context) error { panic(http.ErrAbortHandler) }, false},
		{"client leaves", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, true},
	} {
		for name, call := range shapes {
			t.Run(tt.name+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					begun := 0
					svc := service{func(ctx context.Context) error {
						begun++
						return tt.during(ctx)
					}}
					limited := NewRateLimitedSlotted(svc, newLimiter(t, nil))
					c := serve(t, server{peer: "203.0.113.9:1", service: limited, opts: []connectlimit.Option{ann}})
					for i := range 3 {
						ctx, leave := context.WithCancel(t.Context())
						done := make(chan error)
						go func() {
							_, err := call(ctx, c)
							done <- err
						}()
						if tt.leaves {
							synctest.Wait()
							leave()
						}
						if _, refused := connectlimit.ReadRefusal(<-done); refused || begun != i+1 {
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
