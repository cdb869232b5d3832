package generics

import (
	"context"
	"slices"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type entry string

func (e entry) Key() (string, int) { return string(e), 0 }

type ledger struct{ limittest.Calls }

func (l *ledger) Post(_ context.Context, e Entry[string], v int) (int, error) {
	l.Add("Post", e, v)
	return v, nil
}

func (l *ledger) Split(_ context.Context, e Entry[string]) (string, int, []int, map[string]int, error) {
	l.Add("Split", e)
	return "a", 1, []int{2}, map[string]int{"b": 3}, nil
}

func (l *ledger) Check(e Entry[string]) bool {
	l.Add("Check", e)
	return true
}

func TestLedger(t *testing.T) {
	var next ledger
	l := NewRateLimitedLedger(&next, limittest.Limiter(t))
	limittest.Admits(t, 2, "generics.Ledger.Post", func() error {
		v, err := l.Post(t.Context(), entry("a"), 7)
		if err == nil && v != 7 || err != nil && v != 0 {
			t.Errorf("Post: got %v, %v", v, err)
		}
		return err
	})
	next.Want(t, 2, "Post", entry("a"), 7)
	limittest.Admits(t, 2, "generics.Ledger.Split", func() error {
		id, v, vs, m, err := l.Split(t.Context(), entry("a"))
		if err == nil && (id != "a" || v != 1 || !slices.Equal(vs, []int{2}) || m["b"] != 3) {
			t.Errorf("Split: got %v, %v, %v, %v", id, v, vs, m)
		}
		if err != nil && (id != "" || v != 0 || vs != nil || m != nil) {
			t.Errorf("Split: got %v, %v, %v, %v with a refusal", id, v, vs, m)
		}
		return err
	})
	if !l.Check(entry("b")) {
		t.Error("Check: got false")
	}
	next.Want(t, 5, "Check", entry("b"))
}

type gauge struct{ sum float64 }

func (g *gauge) Add(n float64, _ string) (float64, error) {
	g.sum += n
	return g.sum, nil
}

func TestGauge(t *testing.T) {
	g := NewRateLimitedGauge(&gauge{}, limittest.Limiter(t))
	var sum float64
	limittest.Admits(t, 2, "generics.Gauge.Add", func() error {
		n, err := g.Add(1.5, "a")
		sum += n
		return err
	})
	if sum != 1.5+3 {
		t.Errorf("got %v, want %v", sum, 1.5+3)
	}
}

type node int

func (n node) Less(other node) bool { return n < other }

type tree struct{ nodes []node }

func (t *tree) Insert(n node) (node, error) {
	t.nodes = append(t.nodes, n)
	return n, nil
}

func (t *tree) Walk(func(node) bool) []node { return t.nodes }
func (t *tree) Clone() Tree[node, []node]   { return &tree{t.nodes} }

func TestTree(t *testing.T) {
	tr := NewRateLimitedTree(&tree{}, limittest.Limiter(t))
	limittest.Admits(t, 2, "generics.Tree.Insert", func() error {
		_, err := tr.Insert(3)
		return err
	})
	for _, got := range [][]node{tr.Walk(nil), tr.Clone().Walk(nil)} {
		if !slices.Equal(got, []node{3, 3}) {
			t.Errorf("got %v", got)
		}
	}
}

type cache struct{}

func (cache) Find(string) (err, error)                       { return err{}, nil }
func (cache) Put(key string, value int) (string, int, error) { return key, value, nil }

func TestCache(t *testing.T) {
	var c Cache[bool, int, string] = NewRateLimitedCache[bool](Cache[bool, int, string](cache{}), limittest.Limiter(t))
	limittest.Admits(t, 2, "generics.Cache.Put", func() error {
		key, value, err := c.Put("a", 1)
		if err == nil && (key != "a" || value != 1) {
			t.Errorf("Put: got %v, %v", key, value)
		}
		return err
	})
	limittest.Admits(t, 2, "generics.Cache.Find", func() error {
		_, err := c.Find("a")
		return err
	})
}

type pool struct{ n int }

func (p *pool) Get() (*int, error) { return &p.n, nil }

func TestPool(t *testing.T) {
	var next pool
	p := NewRateLimitedPool(Pool[*int](&next), limittest.Limiter(t))
	limittest.Admits(t, 2, "generics.Pool.Get", func() error {
		got, err := p.Get()
		if err == nil && got != &next.n {
			t.Errorf("got %p", got)
		}
		return err
	})
}

type index struct{ limittest.Calls }

func (i *index) Get(id string) (int, error) {
	i.Add("Get", id)
	return 7, nil
}

func (i *index) Put(n int, b bool) (bool, error) {
	i.Add("Put", n, b)
	return b, nil
}

func TestIndex(t *testing.T) {
	var next index
	i := NewRateLimitedIndex(Index[int, string, bool](&next), limittest.Limiter(t))
	limittest.Admits(t, 2, "generics.Index.Get", func() error {
		n, err := i.Get("a")
		if err == nil && n != 7 {
			t.Errorf("Get: got %v", n)
		}
		return err
	})
	next.Want(t, 2, "Get", "a")
	limittest.Admits(t, 2, "generics.Index.Put", func() error {
		b, err := i.Put(1, true)
		if b != (err == nil) {
			t.Errorf("Put: got %v, %v", b, err)
		}
		return err
	})
	next.Want(t, 4, "Put", 1, true)
}
