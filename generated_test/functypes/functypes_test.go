package functypes_test

import (
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/functypes"
	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type hooks struct{ limittest.Calls }

func (h *hooks) On(name string, fn func(args ...string) (n int, err error)) error {
	h.Add("On", name, fn)
	return nil
}

func (h *hooks) Wrap(f func(int) func(string) (bool, error)) (func(...func()) func(), error) {
	h.Add("Wrap", f)
	return func(fns ...func()) func() { return fns[0] }, nil
}

func (h *hooks) All(fns ...func(xs ...int) (int, error)) func() error {
	h.Add("All", fns[0], len(fns))
	return func() error { return nil }
}

func TestHooks(t *testing.T) {
	var next hooks
	h := functypes.NewRateLimitedHooks(&next, limittest.Limiter(t))
	on := func(...string) (int, error) { return 0, nil }
	limittest.Admits(t, 2, "functypes.Hooks.On", func() error { return h.On("a", on) })
	next.Want(t, 2, "On", "a", on)

	curried := func(int) func(string) (bool, error) { return nil }
	limittest.Admits(t, 2, "functypes.Hooks.Wrap", func() error {
		got, err := h.Wrap(curried)
		if (got == nil) != (err != nil) {
			t.Errorf("Wrap: got %p, %v", got, err)
		}
		return err
	})
	next.Want(t, 4, "Wrap", curried)

	all := func(...int) (int, error) { return 0, nil }
	if undo := h.All(all, all); undo == nil {
		t.Error("All: got nil")
	}
	next.Want(t, 5, "All", all, 2)
}
