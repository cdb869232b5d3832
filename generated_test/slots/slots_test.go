package slots

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

type contextKey struct{}

// render keeps calls running for as long as inner takes.
type render struct {
	inner func(ctx context.Context) error
	calls int
}

func (r *render) run(ctx context.Context) error {
	r.calls++
	if r.inner == nil {
		return nil
	}
	return r.inner(ctx)
}

func (r *render) Plain(ctx context.Context, id string) (string, error) { return id, r.run(ctx) }
func (r *render) Cost(int, string) error                               { return r.run(context.Background()) }
func (r *render) Both(ctx context.Context) error                       { return r.run(ctx) }
func (r *render) Skip(ctx context.Context, _ bool) error               { return r.run(ctx) }
func (r *render) Stream(s Stream) error                                { return r.run(s.Context()) }
func (r *render) Defined(ctx Context) error                            { return r.run(ctx) }

func (r *render) Serve(_ http.ResponseWriter, req *http.Request)           { _ = r.run(req.Context()) }
func (r *render) Call(_ string, ctx, _ context.Context, _ ...string) error { return r.run(ctx) }

func (r *render) Nil(req *http.Request) error {
	if req == nil {
		return r.run(context.Background())
	}
	return r.run(req.Context())
}

type stream struct{ ctx context.Context }

func (s stream) Context() context.Context { return s.ctx }
func (stream) Send(string) error          { return nil }

// depth calls a method from within itself until it is refused, and returns how many calls were running then.
func depth(t *testing.T, next *render, call func() error) int {
	t.Helper()
	deepest := 0
	running := 0
	next.inner = func(context.Context) error {
		running++
		deepest = max(deepest, running)
		err := call()
		running--
		return err
	}
	if err := call(); !errors.Is(err, ratelimit.ErrLimited) {
		t.Errorf("got %v, want that the innermost call is refused", err)
	}
	return deepest
}

func TestSlots(t *testing.T) {
	ctx := t.Context()
	for _, test := range []struct {
		what string
		call func(Render) error
		want int
	}{
		{"two", func(r Render) error { _, err := r.Plain(ctx, "a"); return err }, 2},
		{"three of three", func(r Render) error { return r.Cost(1, "a") }, 3},
		{"one of three, of two slots", func(r Render) error { return r.Cost(2, "a") }, 1},
		{"not skipped", func(r Render) error { return r.Skip(ctx, false) }, 1},
		{"a stream", func(r Render) error { return r.Stream(stream{ctx}) }, 1},
		{"a context of a type of its own", func(r Render) error { return r.Defined(ctx) }, 1},
		{"no request", func(r Render) error { return r.Nil(nil) }, 1},
		{"with a unit", func(r Render) error { return r.Both(ctx) }, 1},
		{"a name of ours", func(r Render) error { return r.Call("a", ctx, ctx) }, 1},
	} {
		next := &render{}
		r := NewRateLimitedRender(next, limittest.Limiter(t))
		for range 2 { // the slots of the first round have come back
			if got := depth(t, next, func() error { return test.call(r) }); got != test.want {
				t.Errorf("%s: %d calls at once, want %d", test.what, got, test.want)
			}
		}
	}
}

func TestSlotsComeBackOnPanic(t *testing.T) {
	next := &render{inner: func(context.Context) error { panic("lost") }}
	r := NewRateLimitedRender(next, limittest.Limiter(t))
	for range 3 {
		func() {
			defer func() { _ = recover() }()
			_ = r.Skip(t.Context(), false)
		}()
	}
	if next.calls != 3 {
		t.Errorf("%d calls reach the service, want 3", next.calls)
	}
}

func TestSlotsAndFailures(t *testing.T) {
	next := &render{}
	r := NewRateLimitedRender(next, limittest.Limiter(t))
	for range 5 { // all given back
		if err := r.Both(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	broken := errors.New("broken")
	next.inner = func(context.Context) error { return broken }
	for range 2 {
		if err := r.Both(t.Context()); !errors.Is(err, broken) {
			t.Fatal(err)
		}
	}
	limittest.Admits(t, 0, "slots.Render.Both", func() error { return r.Both(t.Context()) })
}

func TestContextIsPassedOn(t *testing.T) {
	ctx := context.WithValue(t.Context(), contextKey{}, "value")
	var seen []any
	next := &render{inner: func(ctx context.Context) error { seen = append(seen, ctx.Value(contextKey{})); return nil }}
	r := NewRateLimitedRender(next, limittest.Limiter(t))
	if text, err := r.Plain(ctx, "a"); text != "a" || err != nil {
		t.Fatal(text, err)
	}
	r.Serve(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
	if err := r.Call("", ctx, t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.Defined(ctx); err != nil {
		t.Fatal(err)
	}
	if err := r.Nil(httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)); err != nil {
		t.Fatal(err)
	}
	for i, value := range seen {
		if value != "value" {
			t.Errorf("call %d sees %v", i+1, value)
		}
	}
	if len(seen) != 5 {
		t.Errorf("%d calls reach the service, want 5", len(seen))
	}
}

func TestHandlerIsRefused(t *testing.T) {
	next := &render{}
	r := NewRateLimitedRender(next, limittest.Limiter(t))
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	inner := httptest.NewRecorder()
	next.inner = func(context.Context) error { r.Serve(inner, request); return nil }
	outer := httptest.NewRecorder()
	r.Serve(outer, request)
	if outer.Code != http.StatusOK || inner.Code != http.StatusTooManyRequests || next.calls != 1 {
		t.Errorf("got status %d, %d within it, and %d calls", outer.Code, inner.Code, next.calls)
	}
}
