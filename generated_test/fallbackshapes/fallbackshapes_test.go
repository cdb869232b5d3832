package fallbackshapes

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sort"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	rl "github.com/ratelimitgen/ratelimitgen/runtime"
)

// InTest has fallbacks that are declared in a test, and beside it.
type InTest interface {
	//ratelimit:count=1 time=1h fallback=inTest
	Here(ctx context.Context) (string, int)
	//ratelimit:count=1 time=1h fallback=multi
	There(ctx context.Context) (string, int)
}

func inTest(context.Context) (string, int) { return "test", 2 }

type service struct{ inner func() }

func (service) Same(*rl.LimitError) error                       { return nil }
func (service) SameAndTold(*rl.LimitError) error                { return nil }
func (service) Handle(http.ResponseWriter, *http.Request) error { return nil }
func (service) Multi(context.Context) (string, int)             { return "service", 2 }
func (service) None(context.Context)                            {}
func (service) Concrete(context.Context) *Error                 { return nil }
func (service) Single(_ context.Context, id string) int         { return len(id) }
func (service) Error() string                                   { return "service" }
func (service) Here(context.Context) (string, int)              { return "service", 1 }
func (service) There(context.Context) (string, int)             { return "service", 1 }

func (s service) HandleInSlot(http.ResponseWriter, *http.Request) { s.inner() }

func (service) Funcs(...func(...int)) (<-chan int, [3]struct{ A int }) {
	return make(chan int), [3]struct{ A int }{}
}

func (service) Read(p []byte) (int, error)  { return len(p), nil }
func (service) Write(p []byte) (int, error) { return len(p), nil }
func (service) Empty([]byte) (int, error)   { return 0, nil }

func TestErrors(t *testing.T) {
	s := NewRateLimitedShapes(service{}, limittest.Limiter(t))
	own := &rl.LimitError{Name: "own"}
	for _, test := range []struct {
		call func(*rl.LimitError) error
		want string
	}{
		{s.Same, "own"},
		{s.SameAndTold, "1h"},
	} {
		if err := test.call(own); err != nil {
			t.Fatal(err)
		}
		if e, ok := test.call(own).(*rl.LimitError); !ok || e.Name != test.want { //nolint:errorlint // what the fallback returns, as it is
			t.Errorf("got %v, want the error named %s", e, test.want)
		}
	}
	if e := s.Concrete(t.Context()); e != nil {
		t.Errorf("got %v, want nothing of the service", e)
	}
	if e := s.Concrete(t.Context()); e == nil || e.text != "fallback" {
		t.Errorf("got %v, want that of the fallback", e)
	}
	for _, want := range []int{4, -1} {
		if got := s.Single(t.Context(), "call"); got != want {
			t.Errorf("Single: got %d, want %d", got, want)
		}
	}
}

func TestHandlers(t *testing.T) {
	next := service{}
	s := NewRateLimitedShapes(&next, limittest.Limiter(t))
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	inner, outer := httptest.NewRecorder(), httptest.NewRecorder()
	next.inner = func() { s.HandleInSlot(inner, request) }
	s.HandleInSlot(outer, request)
	if outer.Code != http.StatusOK || inner.Code != http.StatusTeapot {
		t.Errorf("got status %d, %d within it", outer.Code, inner.Code)
	}
	for range 3 { // given back each time
		if w := httptest.NewRecorder(); s.Handle(w, request) != nil || w.Code != http.StatusOK {
			t.Errorf("got status %d", w.Code)
		}
	}
}

func TestResults(t *testing.T) {
	s := NewRateLimitedShapes(service{}, limittest.Limiter(t))
	in := NewRateLimitedInTest(service{}, limittest.Limiter(t))
	for _, test := range []struct {
		call func(context.Context) (string, int)
		want string
	}{{s.Multi, "fallback"}, {in.Here, "test"}, {in.There, "fallback"}} {
		first, _ := test.call(t.Context())
		if then, _ := test.call(t.Context()); first != "service" || then != test.want {
			t.Errorf("got %q and %q, want %q at last", first, then, test.want)
		}
	}
	nones = 0
	for range 3 {
		s.None(t.Context())
	}
	if nones != 2 {
		t.Errorf("%d calls of the fallback, want 2", nones)
	}
}

func TestForeignInterfaces(t *testing.T) {
	sorter := NewRateLimitedSorter(sort.IntSlice{1, 2}, limittest.Limiter(t))
	if !sorter.Less(0, 1) || sorter.Less(0, 1) {
		t.Error("want what the slice says, then what the fallback says")
	}
	r := NewRateLimitedReader(service{}, limittest.Limiter(t))
	first, _ := r.Read(make([]byte, 3))
	if then, err := r.Read(make([]byte, 3)); first != 3 || then != 0 || err != nil {
		t.Errorf("got %d, then %d and %v, want 3, then nothing", first, then, err)
	}
	a, sum := NewRateLimitedAlias(service{}, limittest.Limiter(t)), 0
	add := func(ns ...int) { sum += len(ns) }
	if ch, _ := a.Funcs(add); ch == nil {
		t.Error("got no channel of the service")
	}
	if ch, array := a.Funcs(add, add); ch != nil || array[0].A != 7 || sum != 4 {
		t.Errorf("got %v and a sum of %d, want what the fallback returns", array, sum)
	}
}
