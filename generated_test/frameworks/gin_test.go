package frameworks

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ratelimitgen/ratelimitgen/generated_test/frameworks/gin"
	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// recorder is a response that knows its status.
type recorder struct{ *httptest.ResponseRecorder }

func (r recorder) Status() int { return r.Code }

func newRecorder() recorder { return recorder{httptest.NewRecorder()} }

// requestBy returns a request of a user, from an address.
func requestBy(user, path string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	ctx := ratelimit.WithClientIP(r.Context(), netip.MustParseAddr("203.0.113.7"))
	return r.WithContext(ratelimit.WithCaller(ctx, "user", user))
}

func ginBy(user, path string) *gin.Context {
	return &gin.Context{Request: requestBy(user, path), Writer: newRecorder()}
}

// pages runs inner in each call.
type pages struct {
	calls int
	inner func(c *gin.Context) error
}

func (p *pages) run(c *gin.Context) error {
	p.calls++
	if p.inner == nil {
		return nil
	}
	return p.inner(c)
}

func (p *pages) Show(c *gin.Context)          { _ = p.run(c) }
func (p *pages) Item(c *gin.Context, _ int64) { _ = p.run(c) }
func (p *pages) Save(c *gin.Context) error    { return p.run(c) }
func (p *pages) Upload(c *gin.Context)        { _ = p.run(c) }
func (p *pages) Login(c *gin.Context) error   { return p.run(c) }
func (p *pages) Visit(c *gin.Context)         { _ = p.run(c) }
func (p *pages) Slow(c *gin.Context)          { _ = p.run(c) }
func (p *pages) Busy(c *gin.Context)          { _ = p.run(c) }
func (p *pages) Health(c *gin.Context)        { _ = p.run(c) }

func (p *pages) Told(c *gin.Context, _ context.Context) { _ = p.run(c) }
func (p *pages) Held(c *gin.Context, ctx context.Context) {
	c.Request = c.Request.WithContext(ctx) // for inner to look at
	_ = p.run(c)
}

func (p *pages) Pointer(c *Session) { _ = p.run(c.Context) }
func (p *pages) Alias(c Ctx)        { _ = p.run(c) }
func (p *pages) Value(c Session)    { _ = p.run(c.Context) }
func (p *pages) Slot(c Session)     { _ = p.run(c.Context) }

func TestGinHandlersAreAnswered(t *testing.T) {
	next := &pages{}
	limiter := limittest.Limiter(t)
	p, w := NewRateLimitedPages(next, limiter), NewRateLimitedWrapped(next, limiter)
	for i, step := range []struct {
		call   func(c *gin.Context)
		user   string
		path   string
		status int
	}{
		{p.Show, "ann", "/a", 200},
		{p.Show, "bob", "/a", 503}, // of one address
		{p.Show, "bob", "/b", 200},
		{func(c *gin.Context) { p.Item(c, 1) }, "ann", "/", 200},
		{func(c *gin.Context) { p.Item(c, 1) }, "ann", "/", 429},
		{func(c *gin.Context) { p.Item(c, 2) }, "ann", "/", 200},
		{func(c *gin.Context) { p.Item(c, 1) }, "bob", "/", 200},
		{func(c *gin.Context) { w.Pointer(&Session{Context: c}) }, "ann", "/", 200},
		{func(c *gin.Context) { w.Pointer(&Session{Context: c}) }, "ann", "/", 429},
		{w.Alias, "ann", "/", 200},
		{w.Alias, "ann", "/", 429},
		{func(c *gin.Context) { w.Value(Session{Context: c}) }, "ann", "/", 200},
		{func(c *gin.Context) { w.Value(Session{Context: c}) }, "ann", "/", 429},
		{p.Busy, "ann", "/", 200},
		{p.Busy, "ann", "/", 503}, // by the fallback, which aborts nothing
		{p.Health, "ann", "/", 200},
		{p.Health, "ann", "/", 200},
	} {
		c := ginBy(step.user, step.path)
		before := next.calls
		step.call(c)
		refused := step.status != 200
		if got := c.Writer.Status(); got != step.status || next.calls-before != map[bool]int{false: 1}[refused] {
			t.Errorf("step %d: status %d and %d calls, want status %d", i, got, next.calls-before, step.status)
		}
		if fellBack := i == 14; c.IsAborted() != (refused && !fellBack) {
			t.Errorf("step %d: aborted is %t", i, c.IsAborted())
		}
	}
}

// The values of the request's context count, not those of the parameter, which is a context as well; but those of a
// context.Context go before both.
func TestGinRequestHasTheContext(t *testing.T) {
	p := NewRateLimitedPages(&pages{}, limittest.Limiter(t))
	for i, step := range []struct {
		user   string // of the context
		status int
	}{{"ann", 200}, {"ann", 429}, {"bob", 200}, {"", 429}} {
		c := ginBy("eve", "/")
		p.Told(c, ratelimit.WithCaller(t.Context(), "user", step.user))
		if got := c.Writer.Status(); got != step.status {
			t.Errorf("step %d: got %d, want %d", i, got, step.status)
		}
	}
}

func TestGinErrorIsReturnedToo(t *testing.T) {
	broken := errors.New("broken")
	next := &pages{inner: func(*gin.Context) error { return broken }}
	p := NewRateLimitedPages(next, limittest.Limiter(t))
	if err := p.Save(ginBy("ann", "/")); !errors.Is(err, broken) {
		t.Errorf("got %v, want the handler's own error", err)
	}
	c := ginBy("ann", "/")
	if err := p.Save(c); !errors.Is(err, ratelimit.ErrLimited) || c.Writer.Status() != 429 || !c.IsAborted() {
		t.Errorf("got error %v, status %d and aborted %t, want a refusal, 429 and true", err, c.Writer.Status(), c.IsAborted())
	}
}

// A context that was made for a test of a handler may have no request.
func TestGinWithoutRequest(t *testing.T) {
	next := &pages{}
	p := NewRateLimitedPages(next, limittest.Limiter(t))
	bare := func() *gin.Context { return &gin.Context{Writer: newRecorder()} }
	for name, step := range map[string]struct {
		call   func(c *gin.Context)
		status int
	}{
		"no address": {p.Show, 503},
		"no user":    {func(c *gin.Context) { p.Item(c, 1) }, 429},
		"no matter":  {func(c *gin.Context) { _ = p.Save(c) }, 200},
		"a slot":     {p.Upload, 200},
	} {
		c := bare()
		step.call(c)
		if got := c.Writer.Status(); got != step.status {
			t.Errorf("%s: got %d, want %d", name, got, step.status)
		}
	}
	c := bare()
	if _ = p.Save(c); c.Writer.Status() != 429 {
		t.Errorf("over the limit: got %d, want 429", c.Writer.Status())
	}
}

func TestGinSlots(t *testing.T) {
	for name, handler := range map[string]func(p Pages, w Wrapped) func(c *gin.Context){
		"of the request": func(p Pages, _ Wrapped) func(c *gin.Context) { return p.Upload },
		"of what embeds it": func(_ Pages, w Wrapped) func(c *gin.Context) {
			return func(c *gin.Context) { w.Slot(Session{Context: c}) }
		},
		"of the parameter": func(p Pages, _ Wrapped) func(c *gin.Context) {
			return func(c *gin.Context) { p.Held(c, c.Request.Context()) }
		},
	} {
		next := &pages{}
		limiter := limittest.Limiter(t)
		call := handler(NewRateLimitedPages(next, limiter), NewRateLimitedWrapped(next, limiter))
		var during context.Context
		inner := ginBy("ann", "/")
		next.inner = func(c *gin.Context) error {
			during = c.Request.Context()
			if ip, ok := ratelimit.ClientIP(during); !ok || ip.String() != "203.0.113.7" {
				t.Errorf("%s: the call's context has lost the address", name)
			}
			next.inner = nil
			call(inner)
			return nil
		}
		outer := ginBy("ann", "/")
		request := outer.Request
		call(outer)
		if outer.Writer.Status() != 200 || inner.Writer.Status() != 429 || next.calls != 1 {
			t.Errorf("%s: status %d, %d within it, and %d calls", name, outer.Writer.Status(), inner.Writer.Status(), next.calls)
		}
		if during == request.Context() || during.Err() == nil {
			t.Errorf("%s: the call has no context that ends with it", name)
		}
		if name != "of the parameter" && outer.Request.Context() != request.Context() {
			t.Errorf("%s: those who come after the handler find a request whose context has ended", name)
		}
		call(ginBy("ann", "/")) // the slot has come back
		if next.calls != 2 {
			t.Errorf("%s: the slot did not come back", name)
		}
	}
}

func TestGinRequestComesBackOnPanic(t *testing.T) {
	next := &pages{inner: func(*gin.Context) error { panic("lost") }}
	p := NewRateLimitedPages(next, limittest.Limiter(t))
	c := ginBy("ann", "/")
	ctx := c.Request.Context()
	for range 2 {
		func() {
			defer func() { _ = recover() }()
			p.Upload(c)
		}()
	}
	if c.Request.Context() != ctx || next.calls != 2 {
		t.Errorf("the context came back: %t; %d calls, want 2", c.Request.Context() == ctx, next.calls)
	}
}

// Those who come next find what a handler that holds slots has put into the request, be it in place or into its context.
func TestGinSlotsKeepWhatTheHandlerPutsIntoTheRequest(t *testing.T) {
	next := &pages{inner: func(c *gin.Context) error {
		c.Request.Body = http.NoBody
		c.Request = c.Request.WithContext(ratelimit.WithCaller(c.Request.Context(), "tenant", "acme"))
		return nil
	}}
	c := ginBy("ann", "/")
	c.Request.Body = nil
	NewRateLimitedPages(next, limittest.Limiter(t)).Upload(c)
	ctx := c.Request.Context()
	user, _ := ratelimit.Caller(ctx, "user")
	tenant, _ := ratelimit.Caller(ctx, "tenant")
	if user != "ann" || tenant != "acme" || ctx.Err() != nil || c.Request.Body != http.NoBody {
		t.Errorf("user %q, tenant %q, %v, body %v", user, tenant, ctx.Err(), c.Request.Body)
	}
}

func TestGinRefunds(t *testing.T) {
	next := &pages{}
	p := NewRateLimitedPages(next, limittest.Limiter(t))
	for range 3 {
		if err := p.Login(ginBy("ann", "/")); err != nil {
			t.Fatal(err)
		}
		p.Visit(ginBy("ann", "/"))
	}
	next.inner = func(c *gin.Context) error {
		c.Writer.WriteHeader(http.StatusNotFound)
		return errors.New("broken")
	}
	_ = p.Login(ginBy("ann", "/"))
	p.Visit(ginBy("ann", "/"))
	for name, call := range map[string]func(c *gin.Context){"Login": func(c *gin.Context) { _ = p.Login(c) }, "Visit": p.Visit} {
		c := ginBy("ann", "/")
		if call(c); c.Writer.Status() != 429 {
			t.Errorf("%s: got %d, want 429 after a call that counts", name, c.Writer.Status())
		}
	}
	if next.calls != 8 {
		t.Errorf("got %d calls, want 8", next.calls)
	}
}

func TestGinWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := &pages{}
		limiter, err := ratelimit.New(memlimit.New())
		if err != nil {
			t.Fatal(err)
		}
		p := NewRateLimitedPages(next, limiter)
		start := time.Now()
		for range 2 {
			p.Slow(ginBy("ann", "/"))
		}
		if waited := time.Since(start); next.calls != 2 || waited != time.Second {
			t.Errorf("%d calls in %v, want 2 in 1s", next.calls, waited)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		c := &gin.Context{Request: httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil), Writer: newRecorder()}
		if p.Slow(c); next.calls != 2 || c.Writer.Status() != 503 {
			t.Errorf("a caller that has gone: %d calls and status %d, want 2 and 503", next.calls, c.Writer.Status())
		}
	})
}

type service struct{ limittest.Calls }

func (s *service) Load(_ *gin.Context, id string) (string, error) { s.Add("Load"); return id, nil }
func (s *service) Delete(*gin.Context, string) error              { s.Add("Delete"); return nil }
func (s *service) Late(*http.Request, *gin.Context) error         { s.Add("Late"); return nil }
func (s *service) Export(c *gin.Context, _ string) error          { s.Add("Export", c.Request); return nil }

// What takes a *gin.Context and is no handler returns the refusal, and leaves the answer to its caller.
func TestGinServicesReturnTheRefusal(t *testing.T) {
	next := &service{}
	s := NewRateLimitedService(next, limittest.Limiter(t))
	for name, call := range map[string]func(c *gin.Context) error{
		"Load":   func(c *gin.Context) error { _, err := s.Load(c, "a"); return err },
		"Delete": func(c *gin.Context) error { return s.Delete(c, "a") },
		"Late":   func(c *gin.Context) error { return s.Late(requestBy("eve", "/"), c) },
	} {
		for i, step := range []struct {
			c       *gin.Context
			limited bool
		}{{ginBy("ann", "/"), false}, {ginBy("ann", "/"), true}, {ginBy("bob", "/"), false}, {nil, false}, {new(gin.Context), true}} {
			err := call(step.c)
			if errors.Is(err, ratelimit.ErrLimited) != step.limited {
				t.Errorf("%s, step %d: got %v, limited should be %t", name, i, err, step.limited)
			}
			if step.c != nil && (step.c.IsAborted() || step.c.Writer != nil && step.c.Writer.(recorder).Body.Len() > 0) {
				t.Errorf("%s, step %d: answered", name, i)
			}
		}
	}
	c := ginBy("ann", "/")
	if err := s.Export(c, "a"); err != nil {
		t.Fatal(err)
	}
	next.Want(t, 10, "Export", c.Request) // which others may be reading
}
