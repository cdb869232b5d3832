package contexts_test

import (
	"context"
	"errors"
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

type kinds struct{ limittest.Calls }

func (k *kinds) User(contexts.UserContext) error { return k.add("User") }
func (k *kinds) Defined(contexts.Defined) error  { return k.add("Defined") }
func (k *kinds) Held(*contexts.Envelope) error   { return k.add("Held") }

func (k *kinds) Call(*http.Request, *contexts.Call) error { return k.add("Call") }
func (k *kinds) Request(string, *http.Request) error      { return k.add("Request") }
func (k *kinds) Do(*contexts.Call) error                  { return k.add("Do") }

func (k *kinds) add(method string) error {
	k.Add(method)
	return nil
}

type userContext struct{ context.Context }

func (userContext) User() string { return "" }

func TestParametersThatImplementContextAreRead(t *testing.T) {
	var next kinds
	limiter := limittest.Limiter(t)
	k, g := contexts.NewRateLimitedKinds(&next, limiter), contexts.NewRateLimitedGeneric(&next, limiter)
	nobody := httptest.NewRequest(http.MethodGet, "/", nil)
	for _, user := range []string{"ann", "bob"} {
		ctx := ratelimit.WithCaller(context.Background(), "user", user)
		for method, call := range map[string]func() error{
			"Kinds.User":    func() error { return k.User(userContext{ctx}) },
			"Kinds.Defined": func() error { return k.Defined(ctx) },
			"Kinds.Call":    func() error { return k.Call(nobody, &contexts.Call{Context: ctx}) },
			"Kinds.Held":    func() error { return k.Held(&contexts.Envelope{Session: &contexts.Session{Ctx: ctx}}) },
			"Kinds.Request": func() error { return k.Request("a", nobody.WithContext(ctx)) },
			"Generic.Do":    func() error { return g.Do(&contexts.Call{Context: ctx}) },
		} {
			limittest.Admits(t, 2, "contexts."+method, call)
		}
	}
}

func TestParametersThatAreNilHaveNoContext(t *testing.T) {
	var next kinds
	k := contexts.NewRateLimitedKinds(&next, limittest.Limiter(t))
	for method, calls := range map[string][]func() error{
		"Call":    {func() error { return k.Call(nil, nil) }, func() error { return k.Call(nil, new(contexts.Call)) }},
		"Held":    {func() error { return k.Held(nil) }, func() error { return k.Held(new(contexts.Envelope)) }},
		"Request": {func() error { return k.Request("a", nil) }, func() error { return k.Request("b", nil) }},
	} {
		n := 0
		limittest.Admits(t, 2, "contexts.Kinds."+method, func() error {
			n++
			return calls[n%len(calls)]()
		})
	}
}

func TestACallThatHasEndedIsNotDecided(t *testing.T) {
	var next kinds
	k := contexts.NewRateLimitedKinds(&next, limittest.Limiter(t))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := k.User(userContext{ctx}); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want that of the context", err)
	}
}
