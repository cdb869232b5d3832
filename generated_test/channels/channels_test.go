package channels_test

import (
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/channels"
	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type wires struct {
	limittest.Calls
	errs chan func() error
	out  chan (<-chan struct{})
}

func (w *wires) Plug(a chan (<-chan int), b chan<- chan int, c <-chan (chan<- string), d chan (chan<- int)) (<-chan func() error, error) {
	w.Add("Plug", a, b, c, d)
	return w.errs, nil
}

func (w *wires) Bus(in ...<-chan []byte) chan<- (<-chan struct{}) {
	w.Add("Bus", in)
	return w.out
}

func TestWires(t *testing.T) {
	next := wires{errs: make(chan func() error), out: make(chan (<-chan struct{}))}
	w := channels.NewRateLimitedWires(&next, limittest.Limiter(t))
	a, b := make(chan (<-chan int)), make(chan<- chan int)
	c, d := make(<-chan (chan<- string)), make(chan (chan<- int))
	limittest.Admits(t, 2, "channels.Wires.Plug", func() error {
		errs, err := w.Plug(a, b, c, d)
		if err == nil && errs != next.errs || err != nil && errs != nil {
			t.Errorf("Plug: got %v, %v", errs, err)
		}
		return err
	})
	next.Want(t, 2, "Plug", a, b, c, d)

	in := make(<-chan []byte)
	if out := w.Bus(in, nil); out != next.out {
		t.Errorf("Bus: got %v", out)
	}
	next.Want(t, 3, "Bus", []<-chan []byte{in, nil})
}
