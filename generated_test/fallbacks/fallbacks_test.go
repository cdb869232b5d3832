package fallbacks

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

type items struct{ err error }

func (s *items) get(id string) (*Item, error) { return &Item{"service:" + id}, s.err }

func (s *items) Function(_ context.Context, id string) (*Item, error) { return s.get(id) }
func (s *items) Told(_ context.Context, id string) (*Item, error)     { return s.get(id) }
func (s *items) Method(_ context.Context, id string) (*Item, error)   { return s.get(id) }
func (s *items) Stale(_ context.Context, id string) (*Item, error)    { return &Item{"stale:" + id}, nil }
func (s *items) Several(_ context.Context, id string) (*Item, error)  { return s.get(id) }
func (s *items) Refunded(_ context.Context, id string) (*Item, error) { return s.get(id) }
func (s *items) OnlyError(context.Context) error                      { return nil }

func (s *items) Variadic(_ context.Context, ids ...string) ([]*Item, error) {
	return []*Item{{"service:" + ids[0]}}, nil
}

func (s *items) VariadicTold(ctx context.Context, ids ...string) ([]*Item, error) {
	return s.Variadic(ctx, ids...)
}

// Slot calls itself, so that the inner call finds no slot.
func (s *items) Slot(ctx context.Context, id string) (*Item, error) {
	if inner, ok := ctx.Value(innerKey{}).(Items); ok {
		return inner.Slot(context.WithValue(ctx, innerKey{}, nil), id)
	}
	return s.get(id)
}

type innerKey struct{}

func one(item *Item, err error) (string, error) {
	if item == nil {
		return "", err
	}
	return item.From, err
}

func last(items []*Item, err error) (string, error) {
	if items[len(items)-1] == nil {
		return "nil", err
	}
	return items[len(items)-1].From, err
}

func TestFallbackInsteadOfRefusal(t *testing.T) {
	ctx := t.Context()
	for _, test := range []struct {
		method      string
		call        func(s Items) (string, error)
		first, then string
	}{
		{"Function", func(s Items) (string, error) { return one(s.Function(ctx, "a")) }, "service:a", "cache:a"},
		{"Told", func(s Items) (string, error) { return one(s.Told(ctx, "a")) }, "service:a", "cache:a:1h"},
		{"Method", func(s Items) (string, error) { return one(s.Method(ctx, "a")) }, "service:a", "stale:a"},
		{"Variadic", func(s Items) (string, error) { return last(s.Variadic(ctx, "a", "b")) }, "service:a", "nil"},
		{"VariadicTold", func(s Items) (string, error) { return last(s.VariadicTold(ctx, "a", "b")) }, "service:a", "b:1h"},
		{"Several", func(s Items) (string, error) { return one(s.Several(ctx, "a")) }, "service:a", "cache:a"},
		{"Refunded", func(s Items) (string, error) { return one(s.Refunded(ctx, "a")) }, "service:a", "cache:a"},
		{"OnlyError", func(s Items) (string, error) { return "", s.OnlyError(ctx) }, "", ""},
	} {
		s := NewRateLimitedItems(&items{}, limittest.Limiter(t))
		for i, want := range []string{test.first, test.then, test.then} {
			if got, err := test.call(s); got != want || err != nil {
				t.Errorf("%s: call %d: got %q and %v, want %q", test.method, i+1, got, err, want)
			}
		}
	}
}

func TestFallbackMethodIsNotLimited(t *testing.T) {
	s := NewRateLimitedItems(&items{}, limittest.Limiter(t))
	for range 4 { // beyond the limits of both
		if _, err := s.Method(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
	}
	limittest.Admits(t, 1, "fallbacks.Items.Stale", func() error { _, err := s.Stale(t.Context(), "a"); return err })
}

func TestFallbackForWantOfASlot(t *testing.T) {
	s := NewRateLimitedItems(&items{}, limittest.Limiter(t))
	for i, want := range []string{"stale:a", "service:a"} { // the second time nobody holds the slot
		ctx := t.Context()
		if i == 0 {
			ctx = context.WithValue(ctx, innerKey{}, s)
		}
		if got, err := one(s.Slot(ctx, "a")); got != want || err != nil {
			t.Errorf("got %q and %v, want %q", got, err, want)
		}
	}
}

// What the service itself returns is no refusal, nor is what the limiter cannot tell.
func TestNoFallbackForErrors(t *testing.T) {
	broken := errors.New("broken")
	s := NewRateLimitedItems(&items{err: broken}, limittest.Limiter(t))
	if _, err := s.Function(t.Context(), "a"); !errors.Is(err, broken) {
		t.Errorf("got %v, want the service's error", err)
	}
	limited := NewRateLimitedItems(&items{err: &ratelimit.LimitError{}}, limittest.Limiter(t))
	if got, err := one(limited.Refunded(t.Context(), "a")); got != "service:a" || !errors.Is(err, ratelimit.ErrLimited) {
		t.Errorf("got %q and %v, want what a limited service returned", got, err)
	}
	undecided := NewRateLimitedItems(&items{}, nil)
	for _, call := range []func(context.Context, string) (*Item, error){undecided.Function, undecided.Told, undecided.Slot} {
		item, err := call(t.Context(), "a")
		if _, ok := errors.AsType[*ratelimit.DecisionError](err); item != nil || !ok {
			t.Errorf("got %v and %v, want a decision error", item, err)
		}
	}
}

type counters struct{ added []int }

func (c *counters) Count(context.Context) int     { return 7 }
func (c *counters) CountTold(context.Context) int { return 7 }
func (c *counters) Add(n int)                     { c.added = append(c.added, n) }
func (c *counters) AddTold(n int)                 { c.added = append(c.added, n) }
func (c *counters) Both(n int)                    { c.added = append(c.added, n) }

func (c *counters) Wait(d time.Duration) (bool, time.Duration) { return true, d }

func TestMethodsWithoutErrors(t *testing.T) {
	next := &counters{}
	c := NewRateLimitedCounters(next, limittest.Limiter(t))
	dropped = nil
	for range 2 {
		c.Add(1)
		c.AddTold(2)
		c.Both(3)
	}
	if !slices.Equal(next.added, []int{1, 2, 3}) || !slices.Equal(dropped, []int{1, 2, 3}) {
		t.Errorf("added %v and dropped %v, want each once", next.added, dropped)
	}
	got := []int{c.Count(t.Context()), c.Count(t.Context()), c.CountTold(t.Context()), c.CountTold(t.Context())}
	if want := []int{7, -1, 7, -1}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if waited, left := c.Wait(time.Second); !waited || left != time.Second {
		t.Errorf("got %v and %v from a service with slots", waited, left)
	}
}

// A call that cannot be decided is not passed on, as it would be without a limit.
func TestMethodsWithoutErrorsThatCannotBeDecided(t *testing.T) {
	next := &counters{}
	c := NewRateLimitedCounters(next, nil)
	dropped = nil
	c.Add(1)
	c.AddTold(2)
	if len(next.added) > 0 || !slices.Equal(dropped, []int{1, -2}) {
		t.Errorf("added %v and dropped %v, want all dropped, of which the second is told nothing", next.added, dropped)
	}
	got := []int{c.Count(t.Context()), c.CountTold(t.Context())}
	if want := []int{-1, -2}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if waited, _ := c.Wait(time.Second); waited {
		t.Error("the service was called")
	}
}

type pages struct{}

func (pages) Home(http.ResponseWriter, *http.Request)      {}
func (pages) API(http.ResponseWriter, *http.Request) error { return nil }
func (pages) Plain(http.ResponseWriter, *http.Request)     {}

func TestFallbackAnswersRequests(t *testing.T) {
	for _, test := range []struct {
		limiter *ratelimit.Limiter
		want    []int // statuses of the first and the second call
	}{
		{limittest.Limiter(t), []int{http.StatusOK, http.StatusTeapot}},
		{nil, []int{http.StatusServiceUnavailable, http.StatusServiceUnavailable}}, // cannot tell: answered as without a fallback
	} {
		p := NewRateLimitedPages(pages{}, test.limiter)
		for i, want := range test.want {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			home, api := httptest.NewRecorder(), httptest.NewRecorder()
			p.Home(home, r)
			err := p.API(api, r)
			if home.Code != want || api.Code != want || (err == nil) != (want == http.StatusOK) {
				t.Errorf("call %d: got %d, %d and %v, want %d", i+1, home.Code, api.Code, err, want)
			}
		}
	}
}
