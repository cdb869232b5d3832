package testfiles_test

import (
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	"github.com/ratelimitgen/ratelimitgen/generated_test/testfiles"
)

type Outer interface {
	//ratelimit:count=2 time=1h
	Take(testfiles.Thing) (testfiles.Thing, error)
}

type taker struct{ limittest.Calls }

func (t *taker) Take(thing testfiles.Thing) (testfiles.Thing, error) {
	t.Add("Take", thing)
	return thing, nil
}

func TestOuter(t *testing.T) {
	var next taker
	o := NewRateLimitedOuter(&next, limittest.Limiter(t))
	limittest.Admits(t, 2, "testfiles_test.Outer.Take", func() error {
		thing, err := o.Take(testfiles.Thing{N: 1})
		if (thing.N == 1) != (err == nil) {
			t.Errorf("got %v, %v", thing, err)
		}
		return err
	})
	next.Want(t, 2, "Take", testfiles.Thing{N: 1})
}
