package contexts_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/contexts"
	"github.com/ratelimitgen/ratelimitgen/generated_test/contexts/web"
	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

type router struct{ limittest.Calls }

func (r *router) Late(path string, _ context.Context) error {
	r.Add("Late", path)
	return nil
}

func (r *router) Alias(context.Context) error {
	r.Add("Alias")
	return nil
}

func (r *router) Stream(path string, s contexts.Stream) error {
	r.Add("Stream", path)
	return s.Send(1)
}

func (r *router) Value(contexts.Session) error {
	r.Add("Value")
	return nil
}

func (r *router) Both(*http.Request, context.Context) error {
	r.Add("Both")
	return nil
}

func (r *router) Web(c web.Context, path string) error {
	r.Add("Web", c, path)
	return nil
}

func (r *router) None(path string) { r.Add("None", path) }

type stream struct{ ctx context.Context }

func (s stream) Context() context.Context { return s.ctx }
func (s stream) Send(int) error           { return nil }

func TestLimitsReadTheContext(t *testing.T) {
	var next router
	r := contexts.NewRateLimitedRouter(&next, limittest.Limiter(t))
	nobody := httptest.NewRequest(http.MethodGet, "/", nil)
	for _, user := range []string{"ann", "bob"} {
		ctx := ratelimit.WithCaller(context.Background(), "user", user)
		for method, call := range map[string]func() error{
			"Late":   func() error { return r.Late("p", ctx) },
			"Alias":  func() error { return r.Alias(ctx) },
			"Stream": func() error { return r.Stream("p", stream{ctx}) },
			"Value":  func() error { return r.Value(contexts.Session{Ctx: ctx}) },
			"Both":   func() error { return r.Both(nobody, ctx) },
		} {
			limittest.Admits(t, 2, "contexts.Router."+method, call)
		}
	}
	limittest.Admits(t, 2, "contexts.Router.Web", func() error { return r.Web(web.Context{Path: "p"}, "q") })
	next.Want(t, 22, "Web", web.Context{Path: "p"}, "q")
	r.None("p")
	next.Want(t, 23, "None", "p")
}
