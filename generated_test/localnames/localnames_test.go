package localnames_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	"github.com/ratelimitgen/ratelimitgen/generated_test/localnames"
)

type store struct{ limittest.Calls }

func (s *store) Get(_ context.Context, a, b string, c, d, e int, err error) ([2]int, struct{ N int }, error) {
	s.Add("Get", a, b, c, d, e, err)
	return [2]int{c, d}, struct{ N int }{e}, nil
}

func (s *store) Next(a, b, c error) error {
	s.Add("Next", a, b, c)
	return nil
}

func (s *store) Close() error  { return nil }
func (s *store) Range() error  { return nil }
func (s *store) Unwrap() error { return errInner }

var errInner = errors.New("inner")

// U08
func TestStore(t *testing.T) {
	var next store
	s := localnames.NewRateLimitedStore(&next, limittest.Limiter(t))
	limittest.Admits(t, 2, "localnames.Store.Get", func() error {
		pair, n, err := s.Get(t.Context(), "a", "b", 1, 2, 3, errInner)
		if err == nil && (pair != [2]int{1, 2} || n.N != 3) || err != nil && (pair != [2]int{} || n.N != 0) {
			t.Errorf("got %v, %v, %v", pair, n, err)
		}
		return err
	})
	next.Want(t, 2, "Get", "a", "b", 1, 2, 3, errInner)
	limittest.Admits(t, 2, "localnames.Store.Next", func() error { return s.Next(nil, errInner, nil) })
	next.Want(t, 4, "Next", nil, errInner, nil)
	limittest.Admits(t, 2, "localnames.Store.Close", s.Close)
	limittest.Admits(t, 2, "localnames.Store.Range", s.Range)
	if err := s.Unwrap(); !errors.Is(err, errInner) {
		t.Errorf("Unwrap: got %v, want what the decorated value returns", err)
	}
}
