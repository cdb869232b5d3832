package lettercase

import (
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type pair struct{ limittest.Calls }

func (p *pair) Load(id string) error {
	p.Add("Load", id)
	return nil
}

func (p *pair) load(id string) error {
	p.Add("load", id)
	return nil
}

func (p *pair) LOAD(id string) error {
	p.Add("LOAD", id)
	return nil
}

func TestEachHasItsOwnLimit(t *testing.T) {
	var next pair
	p := NewRateLimitedPair(&next, limittest.Limiter(t))
	limittest.Admits(t, 1, "lettercase.Pair.Load", func() error { return p.Load("a") })
	next.Want(t, 1, "Load", "a")
	limittest.Admits(t, 2, "lettercase.Pair.load", func() error { return p.load("b") })
	next.Want(t, 3, "load", "b")
	limittest.Admits(t, 3, "lettercase.Pair.LOAD", func() error { return p.LOAD("c") })
	next.Want(t, 6, "LOAD", "c")
}
