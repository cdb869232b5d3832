package testfiles

import (
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type inner interface {
	//ratelimit:count=2 time=1h
	Poke(t testing.TB, thing Thing) error
}

type poked struct{ limittest.Calls }

func (p *poked) Poke(t testing.TB, thing Thing) error {
	t.Helper()
	p.Add("Poke", thing)
	return nil
}

func TestInner(t *testing.T) {
	var next poked
	i := newRateLimitedInner(&next, limittest.Limiter(t))
	limittest.Admits(t, 2, "testfiles.inner.Poke", func() error { return i.Poke(t, Thing{1}) })
	next.Want(t, 2, "Poke", Thing{1})
}
