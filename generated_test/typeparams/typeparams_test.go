package typeparams_test

import (
	"context"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	"github.com/ratelimitgen/ratelimitgen/generated_test/typeparams"
)

type box struct{ limittest.Calls }

func (b *box) Put(v string, j int, p *int) error {
	b.Add("Put", v, j, p)
	return nil
}

func (b *box) Run(j typeparams.Job, x, y string, err error) (float64, bool, error) {
	b.Add("Run", j, x, y, err)
	return 1, true, nil
}

func (b *box) Swap(x, y float64) (float64, float64, error) {
	b.Add("Swap", x, y)
	return y, x, nil
}

func (b *box) At(at int64, _ context.Context) int64 { return at }

func TestBox(t *testing.T) {
	var next box
	b := typeparams.NewRateLimitedBox[string, int, float64, int64, bool](&next, limittest.Limiter(t))
	limittest.Admits(t, 2, "typeparams.Box.Put", func() error { return b.Put("a", 1, nil) })
	next.Want(t, 2, "Put", "a", 1, (*int)(nil))
	limittest.Admits(t, 2, "typeparams.Box.Run", func() error {
		f, ok, err := b.Run(typeparams.Job{No: 1}, "x", "y", nil)
		if ok != (err == nil) || ok != (f == 1) {
			t.Errorf("got %v, %v, %v", f, ok, err)
		}
		return err
	})
	next.Want(t, 4, "Run", typeparams.Job{No: 1}, "x", "y", nil)
	limittest.Admits(t, 2, "typeparams.Box.Swap", func() error {
		x, y, err := b.Swap(1, 2)
		if err == nil && (x != 2 || y != 1) || err != nil && (x != 0 || y != 0) {
			t.Errorf("got %v, %v, %v", x, y, err)
		}
		return err
	})
	next.Want(t, 6, "Swap", 1.0, 2.0)
	if at := b.At(7, t.Context()); at != 7 {
		t.Errorf("got %v, want 7", at)
	}
}
