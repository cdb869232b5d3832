package errorresults_test

import (
	"errors"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/errorresults"
	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

var errOwn = errors.New("own")

type fake struct{}

func (fake) Twice() (error, error) { return errOwn, nil }
func (fake) Alias() (int, error)   { return 7, nil }

func (fake) Before() (*errorresults.PathError, errorresults.Coded, error) {
	return &errorresults.PathError{Path: "a"}, nil, nil
}

func (fake) Parameter(err, other error) (error, error) { return err, other }
func (fake) Concrete() (*errorresults.PathError, bool) { return nil, true }
func (fake) First() (error, int)                       { return errOwn, 1 }

func TestRefusalIsTheLastResult(t *testing.T) {
	r := errorresults.NewRateLimitedResults(fake{}, limittest.Limiter(t))
	limittest.Admits(t, 1, "errorresults.Results.Twice", func() error {
		first, err := r.Twice()
		if errors.Is(first, errOwn) != (err == nil) {
			t.Errorf("Twice: got %v, %v", first, err)
		}
		return err
	})
	limittest.Admits(t, 1, "errorresults.Results.Alias", func() error {
		n, err := r.Alias()
		if (n == 7) != (err == nil) {
			t.Errorf("Alias: got %v, %v", n, err)
		}
		return err
	})
	limittest.Admits(t, 1, "errorresults.Results.Before", func() error {
		path, coded, err := r.Before()
		if (path == nil) != (err != nil) || coded != nil {
			t.Errorf("Before: got %v, %v, %v", path, coded, err)
		}
		return err
	})
	limittest.Admits(t, 1, "errorresults.Results.Parameter", func() error {
		first, err := r.Parameter(errOwn, nil)
		if errors.Is(first, errOwn) != (err == nil) {
			t.Errorf("Parameter: got %v, %v", first, err)
		}
		return err
	})
	if _, ok := r.Concrete(); !ok {
		t.Error("Concrete is not forwarded")
	}
	if err, n := r.First(); !errors.Is(err, errOwn) || n != 1 {
		t.Errorf("First: got %v, %v", err, n)
	}
}
