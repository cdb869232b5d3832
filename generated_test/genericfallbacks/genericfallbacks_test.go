package genericfallbacks

import (
	"context"
	"maps"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type repo struct{}

func (repo) Get(context.Context, string) (User, error)        { return User{"get"}, nil }
func (repo) Inferred(context.Context, string) (string, error) { return "inferred", nil }
func (repo) Method(context.Context, string) (User, error)     { return User{"method"}, nil }
func (repo) Fixed(n int) int                                  { return n }
func (repo) Instance(context.Context, string) (int, error)    { return 7, nil }
func (repo) Own(context.Context, User) (*User, error)         { return &User{"own"}, nil }

func (repo) Hidden(context.Context, string) (string, error) { return "hidden", nil }

func (repo) All(context.Context, ...string) (map[string]User, error) {
	return map[string]User{"all": {}}, nil
}

func (repo) AllTold(context.Context, ...string) (map[string]User, error) {
	return map[string]User{"all": {}}, nil
}

func TestGenericFallbacks(t *testing.T) {
	ctx := t.Context()
	type answers struct {
		get, inferred, method, hidden string
		fixed, instance               int
	}
	wants := []answers{
		{"get", "inferred", "method", "hidden", 3, 7},
		{"", "key", "get", "key", -3, 0},
	}
	for _, users := range []Repo[string, User]{
		NewRateLimitedRepo[string, User](repo{}, limittest.Limiter(t)),
		NewRateLimitedUsers(repo{}, limittest.Limiter(t)),
	} {
		for i, want := range wants {
			var got answers
			user, err := users.Get(ctx, "key")
			got.get = user.Name
			check(t, err)
			got.inferred, err = users.Inferred(ctx, "key")
			check(t, err)
			user, err = users.Method(ctx, "key")
			got.method = user.Name
			check(t, err)
			got.hidden, err = users.Hidden(ctx, "key")
			check(t, err)
			got.fixed = users.Fixed(3)
			got.instance, err = users.Instance(ctx, "key")
			check(t, err)
			if got != want {
				t.Errorf("call %d: got %+v, want %+v", i+1, got, want)
			}
		}
		for _, call := range []func(context.Context, ...string) (map[string]User, error){users.All, users.AllTold} {
			for _, want := range []map[string]User{{"all": {}}, {"key": {}, "lock": {}}} {
				got, err := call(ctx, "key", "lock")
				check(t, err)
				if !maps.Equal(got, want) {
					t.Errorf("got %v, want %v", got, want)
				}
			}
		}
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

type namesOf struct{}

func (namesOf) Pair(int) (string, error)                     { return "pair", nil }
func (namesOf) Echo(context.Context, string) (string, error) { return "service", nil }

func TestTypeParametersThatAreCalledLikeFallbacks(t *testing.T) {
	n := NewRateLimitedNames[int, string](namesOf{}, limittest.Limiter(t))
	for _, want := range [][2]string{{"pair", "service"}, {"", "text"}} {
		first, err := n.Pair(1)
		check(t, err)
		second, err := n.Echo(t.Context(), "text")
		check(t, err)
		if got := [2]string{first, second}; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
