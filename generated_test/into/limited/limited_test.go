package limited_test

import (
	"context"
	"errors"
	stdhttp "net/http"
	"net/http/httptest"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/into/http"
	"github.com/ratelimitgen/ratelimitgen/generated_test/into/limited"
	"github.com/ratelimitgen/ratelimitgen/generated_test/into/num"
	"github.com/ratelimitgen/ratelimitgen/generated_test/into/users"
	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	"github.com/ratelimitgen/ratelimitgen/generated_test/private/api"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

type service struct{ err error }

func (service) Get(_ context.Context, u *users.User) (*users.User, error) { return u, nil }

func (service) Put(_ context.Context, us [users.Size]users.User, _ [1]users.Plan) (users.User, error) {
	return us[1], nil
}

func (s service) Find(_ context.Context, us ...users.User) (map[string]*users.User, error) {
	return map[string]*users.User{us[0].ID: &us[0]}, s.err
}

func (service) Count(_ context.Context, us ...users.User) int { return len(us) }
func (service) Sum(context.Context, ...users.User) int        { return 7 }
func (service) Close()                                        {}

// U09
func TestService(t *testing.T) {
	ctx := context.WithValue(t.Context(), num.Key{}, "Acme")
	s := limited.NewRateLimitedService(service{err: users.ErrNotFound}, limittest.Limiter(t))
	get := func() error {
		_, err := s.Get(ctx, &users.User{Plan: &users.Plan{Name: "gold"}})
		return err
	}
	if key := limittest.Key(t, 2, get); key != "tenant:acme:gold" {
		t.Errorf("got key %q", key)
	}
	limittest.Admits(t, 2, "users.Service.Put", func() error {
		u, err := s.Put(ctx, [users.Size]users.User{1: {ID: "b"}}, [1]users.Plan{})
		if (u.ID == "b") != (err == nil) {
			t.Errorf("got user %q and error %v", u.ID, err)
		}
		return err
	})
	for range 3 {
		found, err := s.Find(ctx, users.User{ID: "a"})
		if found["a"] == nil || !errors.Is(err, users.ErrNotFound) {
			t.Errorf("got %v and error %v, want what is given back", found, err)
		}
	}
	s = limited.NewRateLimitedService(service{}, limittest.Limiter(t))
	limittest.Admits(t, 1, "users.Service.Find", func() error {
		_, err := s.Find(ctx, users.User{})
		return err
	})
	if _, err := s.Find(ctx, users.User{}, users.User{}, users.User{}); err != nil {
		t.Errorf("got error %v, want no limit for so many", err)
	}
	for i, want := range []int{1, -1} {
		if got := s.Count(ctx, users.User{}); got != want {
			t.Errorf("call %d of Count: got %d, want %d", i+1, got, want)
		}
	}
	for i, want := range []int{7, 1} {
		if got := s.Sum(ctx, users.User{}); got != want {
			t.Errorf("call %d of Sum: got %d, want %d", i+1, got, want)
		}
	}
	if _, ok := s.Unwrap().(service); !ok {
		t.Errorf("unwrapped a %T", s.Unwrap())
	}
}

type repo struct{}

func (repo) Sum(context.Context, users.User) (num.Meters, error) { return 1.5, nil }

func TestGenerics(t *testing.T) {
	for name, next := range map[string]users.Counts{
		"users.Repo.Sum":   limited.NewRateLimitedRepo[users.User, num.Meters](repo{}, limittest.Limiter(t)),
		"users.Counts.Sum": limited.NewRateLimitedCounts(repo{}, limittest.Limiter(t)),
	} {
		limittest.Admits(t, 1, name, func() error {
			n, err := next.Sum(t.Context(), users.User{})
			if (n == 1.5) != (err == nil) {
				t.Errorf("%s: got %v and error %v", name, n, err)
			}
			return err
		})
	}
}

type server struct{ api.UnimplementedServer }

func (server) Check(context.Context, string) (bool, error) { return true, nil }
func (server) Watch(string)                                {}

func TestMethodOfThirdPackage(t *testing.T) {
	var s api.Server = limited.NewRateLimitedServer(server{}, limittest.Limiter(t))
	limittest.Admits(t, 1, "users.Server.Check", func() error {
		_, err := s.Check(t.Context(), "")
		return err
	})
}

type handler struct{}

func (handler) Handle(stdhttp.ResponseWriter, *stdhttp.Request) {}

func (handler) Do(context.Context, http.Client, *stdhttp.Request) (*stdhttp.Cookie, error) {
	return &stdhttp.Cookie{}, nil
}

func TestPackagesOfOneName(t *testing.T) {
	h := limited.NewRateLimitedHandler(handler{}, limittest.Limiter(t))
	r := httptest.NewRequestWithContext(ratelimit.WithCaller(t.Context(), "ip", "192.0.2.1"), stdhttp.MethodGet, "/", nil)
	for _, want := range []int{stdhttp.StatusOK, stdhttp.StatusTooManyRequests} {
		w := httptest.NewRecorder()
		h.Handle(w, r)
		if w.Code != want {
			t.Errorf("got status %d, want %d", w.Code, want)
		}
	}
	for range 2 { // one after the other
		if _, err := h.Do(t.Context(), http.Client{Name: "a"}, r); err != nil {
			t.Error(err)
		}
	}
}
