package frameworks

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ratelimitgen/ratelimitgen/generated_test/frameworks/echo"
	echo5 "github.com/ratelimitgen/ratelimitgen/generated_test/frameworks/echo5"
	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// exchange is an echo.Context.
type exchange struct {
	request  *http.Request
	response *echo.Response
	recorder *httptest.ResponseRecorder
}

func (e *exchange) Request() *http.Request     { return e.request }
func (e *exchange) SetRequest(r *http.Request) { e.request = r }
func (e *exchange) Response() *echo.Response   { return e.response }

func echoBy(user string) *exchange {
	w := httptest.NewRecorder()
	return &exchange{requestBy(user, "/"), &echo.Response{Writer: w}, w}
}

// fixed is an Exchange.
type fixed struct {
	request *http.Request
	http.ResponseWriter
}

func (f fixed) Request() *http.Request        { return f.request }
func (f fixed) Response() http.ResponseWriter { return f.ResponseWriter }

// api runs inner in each call.
type api struct {
	calls int
	inner func(c echo.Context) error
}

func (a *api) run(c echo.Context) error {
	a.calls++
	if a.inner == nil {
		return nil
	}
	return a.inner(c)
}

func (a *api) Get(c echo.Context) error           { return a.run(c) }
func (a *api) Find(c echo.Context, _ int64) error { return a.run(c) }
func (a *api) Notify(c echo.Context)              { _ = a.run(c) }
func (a *api) Import(c echo.Context) error        { return a.run(c) }
func (a *api) Try(c echo.Context) error           { return a.run(c) }
func (a *api) Queue(c echo.Context) error         { return a.run(c) }
func (a *api) Health(c echo.Context) error        { return a.run(c) }
func (a *api) Fixed(Exchange) error               { return a.run(nil) }
func (a *api) Param(c *exchange) error            { return a.run(c) }
func (a *api) Own(c *AppContext) error            { return a.run(c) }
func (a *api) Value(c AppContext) error           { return a.run(c) }

func (a *api) Late(_ string, c echo.Context) error            { return a.run(c) }
func (a *api) Read(c echo.Context, id string) (string, error) { return id, a.run(c) }

func TestEchoHandlersAreAnswered(t *testing.T) {
	next := &api{}
	limiter := limittest.Limiter(t)
	a, custom := NewRateLimitedAPI(next, limiter), NewRateLimitedCustom(next, limiter)
	for i, step := range []struct {
		call   func(c *exchange) error
		user   string
		status int
	}{
		{func(c *exchange) error { return a.Get(c) }, "ann", 200},
		{func(c *exchange) error { return a.Get(c) }, "bob", 429}, // of one address
		{func(c *exchange) error { return a.Find(c, 1) }, "ann", 200},
		{func(c *exchange) error { return a.Find(c, 1) }, "ann", 429},
		{func(c *exchange) error { return a.Find(c, 1) }, "bob", 200},
		{custom.Param, "ann", 200},
		{custom.Param, "ann", 429},
		{func(c *exchange) error { return custom.Own(&AppContext{Context: c}) }, "ann", 200},
		{func(c *exchange) error { return custom.Own(&AppContext{Context: c}) }, "ann", 429},
		{func(c *exchange) error { return custom.Value(AppContext{Context: c}) }, "ann", 200},
		{func(c *exchange) error { return custom.Value(AppContext{Context: c}) }, "ann", 429},
		{func(c *exchange) error { return a.Health(c) }, "ann", 200},
		{func(c *exchange) error { return a.Health(c) }, "ann", 200},
	} {
		c := echoBy(step.user)
		err := step.call(c)
		if refused := step.status != 200; c.recorder.Code != step.status || c.response.Committed != refused || errors.Is(err, ratelimit.ErrLimited) != refused {
			t.Errorf("step %d: got %d and %v, want %d", i, c.recorder.Code, err, step.status)
		}
	}
	for _, status := range []int{200, 429} { // without an error result
		c := echoBy("ann")
		if a.Notify(c); c.recorder.Code != status {
			t.Errorf("Notify: got %d, want %d", c.recorder.Code, status)
		}
	}
	if next.calls != 9 {
		t.Errorf("got %d calls, want 9", next.calls)
	}
}

func TestEcho5HandlersAreAnswered(t *testing.T) {
	var during context.Context
	a := NewRateLimitedAPI5(api5(func(c *echo5.Context) error { during = c.Request().Context(); return nil }), limittest.Limiter(t))
	for _, status := range []int{200, 429} {
		w := httptest.NewRecorder()
		err := a.Get(echo5.NewContext(requestBy("ann", "/"), w))
		if w.Code != status || errors.Is(err, ratelimit.ErrLimited) != (status == 429) {
			t.Errorf("got %d and %v, want %d", w.Code, err, status)
		}
	}
	r := requestBy("ann", "/")
	c := echo5.NewContext(r, httptest.NewRecorder())
	if err := a.Import(c); err != nil || c.Request().Context() != r.Context() || during.Err() == nil {
		t.Errorf("got %v, the context came back: %t, the call's: %v", err, c.Request().Context() == r.Context(), during.Err())
	}
}

type api5 func(c *echo5.Context) error

func (f api5) Get(c *echo5.Context) error    { return f(c) }
func (f api5) Import(c *echo5.Context) error { return f(c) }

// What takes the context and is no handler returns the refusal, and leaves the answer to its caller.
func TestEchoServicesReturnTheRefusal(t *testing.T) {
	a := NewRateLimitedAPI(&api{}, limittest.Limiter(t))
	for name, call := range map[string]func(c echo.Context) error{
		"Read": func(c echo.Context) error { _, err := a.Read(c, "a"); return err },
		"Late": func(c echo.Context) error { return a.Late("a", c) },
	} {
		for i, user := range []string{"ann", "ann", "bob"} {
			c := echoBy(user)
			if err := call(c); errors.Is(err, ratelimit.ErrLimited) != (i == 1) || c.response.Committed {
				t.Errorf("%s, step %d: got %v, answered: %t", name, i, err, c.response.Committed)
			}
		}
		if err := call(nil); !errors.Is(err, ratelimit.ErrLimited) {
			t.Errorf("%s without a context: got %v, want a refusal for want of a user", name, err)
		}
	}
}

// A context that was made for a test of a handler may have no request.
func TestEchoWithoutRequest(t *testing.T) {
	a := NewRateLimitedAPI(&api{}, limittest.Limiter(t))
	for name, step := range map[string]struct {
		call   func(c echo.Context) error
		status int
	}{
		"no address": {a.Get, 429},
		"no matter":  {a.Try, 200},
		"a slot":     {a.Import, 200},
	} {
		c := echoBy("")
		c.request = nil
		_ = step.call(c)
		if c.recorder.Code != step.status {
			t.Errorf("%s: got %d, want %d", name, c.recorder.Code, step.status)
		}
	}
}

func TestEchoSlots(t *testing.T) {
	next := &api{}
	a := NewRateLimitedAPI(next, limittest.Limiter(t))
	outer, inner := echoBy("ann"), echoBy("ann")
	request := outer.request
	var during context.Context
	next.inner = func(c echo.Context) error {
		during = c.Request().Context()
		return a.Import(inner)
	}
	if err := a.Import(outer); !errors.Is(err, ratelimit.ErrLimited) || inner.recorder.Code != 429 || outer.response.Committed {
		t.Errorf("got %v, status %d within the call", err, inner.recorder.Code)
	}
	if during == request.Context() || during.Err() == nil {
		t.Error("the call has no context that ends with it")
	}
	if outer.request.Context() != request.Context() {
		t.Error("those who come after the handler find a request whose context has ended")
	}
	next.inner = nil
	if err := a.Import(echoBy("ann")); err != nil {
		t.Errorf("the slot did not come back: %v", err)
	}
	if err := a.Fixed(fixed{requestBy("ann", "/"), httptest.NewRecorder()}); err != nil {
		t.Error(err)
	}
}

// Those who come next find what a handler that holds slots has put into the request.
func TestEchoSlotsKeepWhatTheHandlerPutsIntoTheRequest(t *testing.T) {
	next := &api{inner: func(c echo.Context) error {
		c.(*exchange).SetRequest(c.Request().WithContext(ratelimit.WithCaller(c.Request().Context(), "tenant", "acme")))
		return nil
	}}
	c := echoBy("ann")
	if err := NewRateLimitedAPI(next, limittest.Limiter(t)).Import(c); err != nil {
		t.Fatal(err)
	}
	ctx := c.request.Context()
	user, _ := ratelimit.Caller(ctx, "user")
	tenant, _ := ratelimit.Caller(ctx, "tenant")
	if user != "ann" || tenant != "acme" || ctx.Err() != nil {
		t.Errorf("user %q, tenant %q, %v", user, tenant, ctx.Err())
	}
}

func TestEchoRefundsAndWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := &api{}
		limiter, err := ratelimit.New(memlimit.New())
		if err != nil {
			t.Fatal(err)
		}
		a := NewRateLimitedAPI(next, limiter)
		for range 3 {
			if err := a.Try(echoBy("ann")); err != nil {
				t.Fatal(err)
			}
		}
		broken := errors.New("broken")
		next.inner = func(echo.Context) error { return broken }
		if err := a.Try(echoBy("ann")); !errors.Is(err, broken) {
			t.Errorf("got %v, want the handler's own error", err)
		}
		if err := a.Try(echoBy("ann")); !errors.Is(err, ratelimit.ErrLimited) {
			t.Errorf("got %v, want a refusal after a failure", err)
		}

		next.inner = nil
		start := time.Now()
		for range 2 {
			if err := a.Queue(echoBy("ann")); err != nil {
				t.Fatal(err)
			}
		}
		if waited := time.Since(start); waited != time.Second {
			t.Errorf("waited %v, want 1s", waited)
		}
	})
}
