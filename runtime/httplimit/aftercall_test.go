package httplimit_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
)

func TestAfterCall(t *testing.T) {
	type key string
	gone := errors.New("the client is gone")
	for name, handler := range map[string]func(r *http.Request) *http.Request{
		"as it was":  func(r *http.Request) *http.Request { return r },
		"a new body": func(r *http.Request) *http.Request { r.Body = http.NoBody; return r },
		"a new value": func(r *http.Request) *http.Request {
			return r.WithContext(context.WithValue(r.Context(), key("user"), "ann"))
		},
		"a new deadline": func(r *http.Request) *http.Request {
			ctx, cancel := context.WithTimeout(context.WithValue(r.Context(), key("user"), "ann"), time.Minute)
			defer cancel()
			return r.WithContext(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			caller, leave := context.WithCancelCause(context.WithValue(t.Context(), key("trace"), "1"))
			call, end := context.WithCancel(caller)
			before := httptest.NewRequestWithContext(caller, http.MethodPost, "/", strings.NewReader("body"))
			left := handler(before.WithContext(call))
			after := httplimit.AfterCall(left, call, caller)
			end()

			ctx := after.Context()
			if _, bounded := ctx.Deadline(); bounded || ctx.Err() != nil || context.Cause(ctx) != nil {
				t.Errorf("after the call the context says %v, %v, and has a deadline: %v", ctx.Err(), context.Cause(ctx), bounded)
			}
			if ctx.Value(key("trace")) != "1" || ctx.Value(key("user")) != left.Context().Value(key("user")) || after.Body != left.Body {
				t.Errorf("trace %v, user %v, the same body: %v", ctx.Value(key("trace")), ctx.Value(key("user")), after.Body == left.Body)
			}
			child, stop := context.WithCancel(ctx)
			defer stop()
			leave(gone)
			for _, ctx := range []context.Context{ctx, child} {
				<-ctx.Done()
				if !errors.Is(ctx.Err(), context.Canceled) || !errors.Is(context.Cause(ctx), gone) {
					t.Errorf("when the caller's has ended, the context says %v, for %v", ctx.Err(), context.Cause(ctx))
				}
			}
		})
	}
	if r := httplimit.AfterCall(nil, t.Context(), t.Context()); r != nil {
		t.Errorf("got a request where there was none: %v", r)
	}
}
