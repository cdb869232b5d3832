package refunds

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

type login struct {
	calls  int
	page   *Page
	number int
	text   string
	err    error
}

func (l *login) Login(context.Context, string) error           { l.calls++; return l.err }
func (l *login) Named(context.Context) (*Page, error)          { l.calls++; return l.page, l.err }
func (l *login) Unnamed() (*Page, int, error)                  { l.calls++; return l.page, l.number, l.err }
func (l *login) Several(int) (int, error)                      { l.calls++; return l.number, l.err }
func (l *login) Parameters(string) error                       { l.calls++; return l.err }
func (l *login) Swapped() (int, string, error)                 { l.calls++; return l.number, l.text, l.err }
func (l *login) Alike() (*Page, error)                         { l.calls++; return l.page, l.err }
func (l *login) Numbered(*Page) error                          { l.calls++; return l.err }
func (l *login) Panic() error                                  { panic("lost") }
func (l *login) Serve(http.ResponseWriter, *http.Request)      { l.calls++ }
func (l *login) Fail(http.ResponseWriter, *http.Request) error { l.calls++; return l.err }

// calls makes five calls and returns how many reached the service.
func calls(next *login, call func() error) int {
	next.calls = 0
	for range 5 {
		_ = call()
	}
	return next.calls
}

var errBroken = errors.New("broken")

func TestRefunds(t *testing.T) {
	ctx := context.Background()
	for _, test := range []struct {
		what string
		next login
		call func(Login) error
		want int // calls that reach the service, of five
	}{
		{"success", login{}, func(l Login) error { return l.Login(ctx, "ann") }, 5},
		{"failure", login{err: errBroken}, func(l Login) error { return l.Login(ctx, "ann") }, 2},
		{"cached", login{page: &Page{Cached: true}}, func(l Login) error { _, err := l.Named(ctx); return err }, 5},
		{"not cached", login{page: &Page{}}, func(l Login) error { _, err := l.Named(ctx); return err }, 2},
		{"no page", login{}, func(l Login) error { _, err := l.Named(ctx); return err }, 2},
		{"not found", login{err: fmt.Errorf("wrapped: %w", ErrNotFound)}, func(l Login) error { _, err := l.Named(ctx); return err }, 5},
		{"cached unnamed", login{page: &Page{Cached: true}}, func(l Login) error { _, _, err := l.Unnamed(); return err }, 5},
		{"with a number", login{page: &Page{Cached: true}, number: 1}, func(l Login) error { _, _, err := l.Unnamed(); return err }, 2},
		{"two given back, the third not", login{}, func(l Login) error { _, err := l.Several(3); return err }, 3},
		{"all given back", login{number: 4}, func(l Login) error { _, err := l.Several(3); return err }, 5},
		{"none given back", login{err: errBroken}, func(l Login) error { _, err := l.Several(3); return err }, 1},
		{"results by their names", login{number: 1, text: "free"}, func(l Login) error { _, _, err := l.Swapped(); return err }, 5},
		{"results by other names", login{number: 2, text: "free"}, func(l Login) error { _, _, err := l.Swapped(); return err }, 1},
		{"a result and an error", login{page: &Page{Items: []string{"broken"}}, err: errBroken}, func(l Login) error { _, err := l.Alike(); return err }, 5},
		{"a result and no error", login{page: &Page{}}, func(l Login) error { _, err := l.Alike(); return err }, 1},
		{"a parameter and an error", login{err: errBroken}, func(l Login) error { return l.Numbered(&Page{}) }, 5},
		{"a parameter and no error", login{}, func(l Login) error { return l.Numbered(&Page{}) }, 1},
		{"a parameter", login{}, func(l Login) error { return l.Parameters("") }, 5},
		{"another parameter", login{}, func(l Login) error { return l.Parameters("a") }, 1},
	} {
		l := NewRateLimitedLogin(&test.next, limittest.Limiter(t))
		if got := calls(&test.next, func() error { return test.call(l) }); got != test.want {
			t.Errorf("%s: %d calls reach the service, want %d", test.what, got, test.want)
		}
	}
}

func TestResultsAreThoseOfTheService(t *testing.T) {
	next := &login{page: &Page{Items: []string{"a"}}, number: 7, err: errBroken}
	l := NewRateLimitedLogin(next, limittest.Limiter(t))
	if page, n, err := l.Unnamed(); page != next.page || n != 7 || !errors.Is(err, errBroken) {
		t.Errorf("got %v, %d, %v", page, n, err)
	}
}

func TestNothingIsGivenBackOnPanic(t *testing.T) {
	l := NewRateLimitedLogin(&login{}, limittest.Limiter(t))
	call := func() (err error) {
		defer func() { _ = recover() }()
		return l.Panic()
	}
	_ = call()
	if err := l.Panic(); !errors.Is(err, ratelimit.ErrLimited) {
		t.Errorf("got %v, want a refusal", err)
	}
}

func TestHandler(t *testing.T) {
	next := &login{}
	h := NewRateLimitedHandler(next, limittest.Limiter(t))
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	request.Header.Set("X-Free", "yes")
	if got := calls(next, func() error { h.Serve(httptest.NewRecorder(), request); return nil }); got != 5 {
		t.Errorf("%d free requests reach the service, want 5", got)
	}
	request.Header.Del("X-Free")
	if got := calls(next, func() error { h.Serve(httptest.NewRecorder(), request); return nil }); got != 1 {
		t.Errorf("%d requests reach the service, want 1", got)
	}
	next.err = errBroken
	if got := calls(next, func() error { return h.Fail(httptest.NewRecorder(), request) }); got != 5 {
		t.Errorf("%d failing requests reach the service, want 5", got)
	}
	next.err = nil
	w := httptest.NewRecorder()
	_ = h.Fail(w, request)
	if err := h.Fail(w, request); !errors.Is(err, ratelimit.ErrLimited) || w.Code != http.StatusTooManyRequests {
		t.Errorf("got %v and status %d, want a refusal", err, w.Code)
	}
}
