package locks

import (
	"sync"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type bank struct{ limittest.Calls }

func (b *bank) Open() (Counter, struct{ N [2]sync.RWMutex }, error) {
	b.Add("Open")
	return Counter{n: 1}, struct{ N [2]sync.RWMutex }{}, nil
}

func (b *bank) Pair(x, y int) ([2]Counter, struct{ M sync.Mutex }, error) {
	b.Add("Pair", x, y)
	return [2]Counter{{n: x}, {n: y}}, struct{ M sync.Mutex }{}, nil
}

func (b *bank) Share(n int) (*Counter, struct{ L sync.Locker }, error) {
	c := &Counter{n: n}
	return c, struct{ L sync.Locker }{&c.mu}, nil
}

func TestBank(t *testing.T) {
	var next bank
	b := NewRateLimitedBank(&next, limittest.Limiter(t))
	limittest.Admits(t, 2, "locks.Bank.Open", func() error {
		counter, _, err := b.Open()
		if (counter.n == 1) != (err == nil) {
			t.Errorf("got %v, %v", counter.n, err)
		}
		return err
	})
	limittest.Admits(t, 2, "locks.Bank.Pair", func() error {
		pair, _, err := b.Pair(2, 3)
		if (pair[1].n == 3) != (err == nil) {
			t.Errorf("got %v, %v", pair[1].n, err)
		}
		return err
	})
	next.Want(t, 4, "Pair", 2, 3)
	limittest.Admits(t, 2, "locks.Bank.Share", func() error {
		counter, _, err := b.Share(4)
		if (counter == nil) == (err == nil) {
			t.Errorf("got %v, %v", counter, err)
		}
		return err
	})
}
