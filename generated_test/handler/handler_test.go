package handler_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/handler"
	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

type pages struct{}

func (pages) Home(w http.ResponseWriter, _ *http.Request)   { fmt.Fprint(w, "home") }
func (pages) Health(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "healthy") }

var errTeapot = errors.New("teapot")

func (pages) API(w http.ResponseWriter, r *http.Request) error {
	fmt.Fprint(w, "api")
	if r.URL.Path == "/teapot" {
		return errTeapot
	}
	return nil
}

func request(path, addr string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	return r.WithContext(ratelimit.WithClientIP(r.Context(), netip.MustParseAddr(addr)))
}

func TestDecoratorAnswersRefusedRequests(t *testing.T) {
	p := handler.NewRateLimitedPages(pages{}, limittest.Limiter(t))
	for i, step := range []struct {
		handler http.HandlerFunc
		addr    string
		status  int
		body    string // "" if the body is the decorator's
	}{
		{p.Home, "203.0.113.7", 200, "home"},
		{p.Home, "203.0.113.7", 200, "home"},
		{p.Home, "203.0.113.7", 503, ""},
		{p.Home, "203.0.113.8", 200, "home"},
		{p.Health, "203.0.113.7", 200, "healthy"},
		{p.Health, "203.0.113.7", 200, "healthy"},
		{p.Health, "203.0.113.7", 200, "healthy"},
	} {
		w := httptest.NewRecorder()
		step.handler(w, request("/", step.addr))
		if w.Code != step.status || step.body != "" && w.Body.String() != step.body {
			t.Errorf("step %d: got %d %q, want %d %q", i, w.Code, w.Body, step.status, step.body)
		}
	}
}

func TestErrorIsReturnedToo(t *testing.T) {
	p := handler.NewRateLimitedPages(pages{}, limittest.Limiter(t))
	if err := p.API(httptest.NewRecorder(), request("/teapot", "203.0.113.7")); !errors.Is(err, errTeapot) {
		t.Errorf("got %v, want the handler's own error", err)
	}
	if err := p.API(httptest.NewRecorder(), request("/", "203.0.113.7")); err != nil {
		t.Error(err)
	}
	w := httptest.NewRecorder()
	if err := p.API(w, request("/", "203.0.113.7")); !errors.Is(err, ratelimit.ErrLimited) || w.Code != 429 {
		t.Errorf("got error %v and status %d, want a refusal and 429", err, w.Code)
	}
}

type mixed struct{ limittest.Calls }

func (m *mixed) Hook(http.ResponseWriter, *http.Request) { m.Add("Hook") }

func (m *mixed) Sync(r *http.Request, limit int) (int, error) {
	m.Add("Sync", r, limit)
	return limit, nil
}

func TestRequestHasTheContext(t *testing.T) {
	var next mixed
	m := handler.NewRateLimitedMixed(&next, limittest.Limiter(t))
	r := request("/", "203.0.113.7")
	limittest.Admits(t, 1, "handler.Mixed.Sync", func() error {
		done, err := m.Sync(r, 7)
		if err == nil && done != 7 {
			t.Errorf("got %d, want 7", done)
		}
		return err
	})
	next.Want(t, 1, "Sync", r, 7)

	for _, status := range []int{200, 429} {
		w := httptest.NewRecorder()
		m.Hook(w, r)
		if w.Code != status {
			t.Errorf("got %d, want %d", w.Code, status)
		}
	}
	next.Want(t, 2, "Hook")
}
