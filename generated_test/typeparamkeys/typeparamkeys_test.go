package typeparamkeys

import (
	"context"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type name string

type word string

func (w word) String() string { return "no " + string(w) }

type stringer struct{}

func (stringer) String() string { return "text" }

type cache struct{ other name }

func (cache) Get(context.Context, name, int8, word, []byte, stringer) (bool, error) { return true, nil }

func (c cache) Put(context.Context, *Pair[name], int8, []byte) (*Pair[name], error) {
	return &Pair[name]{Other: &Pair[name]{Key: c.other}}, nil
}

func (cache) Several(map[string]int8, []byte, ...name) error { return nil }

func (cache) Find(string, *Pair[string]) error { return nil }

func TestKeys(t *testing.T) {
	c := NewRateLimitedCache(Cache[name, int8, word, []byte, stringer, bool](cache{}), limittest.Limiter(t))
	b := NewRateLimitedNames(cache{}, limittest.Limiter(t))
	pair := &Pair[name]{Key: "a", Other: &Pair[name]{Key: "b"}}
	ctx := t.Context()
	for _, test := range []struct {
		call func() error
		want string
	}{
		{func() error { _, err := c.Get(ctx, "k", -3, "w", []byte("b"), stringer{}); return err }, "k:-3:w:b:text"},
		{func() error { _, err := c.Put(ctx, pair, 1, []byte("xyz")); return err }, "a:b:a:k:3"},
		{func() error { _, err := c.Put(ctx, &Pair[name]{Key: "a"}, 1, nil); return err }, "no p.Other.Key"},
		{func() error { return c.Several(map[string]int8{"x": 5}, []byte("b"), "k", "l") }, "k:5:98"},
		{func() error { return c.Several(nil, nil) }, "no keys[0]"},
		{func() error { return b.Find("i", &Pair[string]{Key: "k"}) }, "i:k"},
		{func() error { return b.Find("i", nil) }, "no p.Key"},
	} {
		if got := limittest.Key(t, 2, test.call); got != test.want {
			t.Errorf("got key %q, want %q", got, test.want)
		}
	}
}

func TestRefund(t *testing.T) {
	c := NewRateLimitedCache(Cache[name, int8, word, []byte, stringer, bool](cache{other: "x"}), limittest.Limiter(t))
	for range 3 {
		if _, err := c.Put(t.Context(), &Pair[name]{Key: "a", Other: &Pair[name]{Key: "b"}}, 1, nil); err != nil {
			t.Fatal(err)
		}
	}
}

type meter struct{}

func (meter) Read(int, uint) error { return nil }

func TestNumbersOfAnyKind(t *testing.T) {
	m := NewRateLimitedMeter(Meter[int, uint](meter{}), limittest.Limiter(t))
	for _, test := range []struct {
		n    int
		want string
	}{
		{3, "meter:true:33"},
		{-3, "meter:false:-33"},
		{0, "no int(100 / n)"},
	} {
		if got := limittest.Key(t, 3, func() error { return m.Read(test.n, 2) }); got != test.want {
			t.Errorf("got key %q, want %q", got, test.want)
		}
	}
}
