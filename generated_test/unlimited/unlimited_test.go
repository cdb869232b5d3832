package unlimited_test

import (
	"context"
	"slices"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	"github.com/ratelimitgen/ratelimitgen/generated_test/unlimited"
)

type users struct{}

func (users) Get(_ context.Context, id string) (string, error) { return id, nil }
func (users) Ping(context.Context) error                       { return nil }
func (users) Len() int                                         { return 3 }

func TestSkip(t *testing.T) {
	u := unlimited.NewRateLimitedUsers(users{}, limittest.Limiter(t))
	limittest.Admits(t, 1, "unlimited.Users.Get", func() error {
		_, err := u.Get(t.Context(), "a")
		return err
	})
	for range 5 {
		if err := u.Ping(t.Context()); err != nil || u.Len() != 3 {
			t.Fatal(err, u.Len())
		}
	}
}

type files struct{ limittest.Calls }

func (f *files) Names() []string { return []string{"a", "b"} }

func (f *files) Open(_ context.Context, name string) (int, error) {
	f.Add("Open", name)
	return 7, nil
}

func (f *files) Close() { f.Add("Close") }

func TestMethodsWithoutLimit(t *testing.T) {
	var next files
	f := unlimited.NewRateLimitedFiles(&next, limittest.Limiter(t))
	for range 5 {
		if got := f.Names(); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("got %v", got)
		}
		f.Close()
	}
	next.Want(t, 5, "Close")
	limittest.Admits(t, 1, "unlimited.Files.Open", func() error {
		fd, err := f.Open(t.Context(), "a")
		if err == nil && fd != 7 {
			t.Errorf("got %d", fd)
		}
		return err
	})
	next.Want(t, 6, "Open", "a")
}
