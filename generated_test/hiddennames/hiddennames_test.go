package hiddennames

import (
	"context"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/hiddennames/value"
	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type shelf struct{}

func (shelf) Get(j job) (zero, string, job, error) { return zero{1}, "a", j, nil }

func (shelf) Both() (string, zero1, int, value.Value, error) {
	return "b", zero1{2}, 3, value.Value{D: 4}, nil
}

func (shelf) Last(context.Context) (err, error) { return err{5}, nil }

func (shelf) Next(a, b int) (value.Value, zero, string, error) {
	return value.Value{D: a}, zero{b}, "c", nil
}

func TestShelf(t *testing.T) {
	s := NewRateLimitedShelf[string, int](shelf{}, limittest.Limiter(t))
	check := func(refusal error, got, want any) {
		t.Helper()
		if refusal == nil && got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	limittest.Admits(t, 2, "hiddennames.Shelf.Get", func() error {
		a, b, c, refusal := s.Get(job{8})
		check(refusal, a, zero{1})
		check(refusal, b, "a")
		check(refusal, c, job{8})
		return refusal
	})
	limittest.Admits(t, 2, "hiddennames.Shelf.Both", func() error {
		a, b, c, d, refusal := s.Both()
		check(refusal, a, "b")
		check(refusal, b, zero1{2})
		check(refusal, c, 3)
		check(refusal, d, value.Value{D: 4})
		return refusal
	})
	limittest.Admits(t, 2, "hiddennames.Shelf.Last", func() error {
		a, refusal := s.Last(t.Context())
		check(refusal, a, err{5})
		return refusal
	})
	limittest.Admits(t, 2, "hiddennames.Shelf.Next", func() error {
		a, b, c, refusal := s.Next(6, 7)
		check(refusal, a, value.Value{D: 6})
		check(refusal, b, zero{7})
		check(refusal, c, "c")
		return refusal
	})
}
