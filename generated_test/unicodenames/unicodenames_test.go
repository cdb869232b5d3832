package unicodenames

import (
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type store struct{ limittest.Calls }

func (s *store) Найти(id ЗаказID, street Straße) (世界, error) {
	s.Add("Найти", id, street)
	return 7, nil
}

func (s *store) Все(a, b 世界, streets []Straße, ids ...ЗаказID) error {
	s.Add("Все", a, b, streets, ids)
	return nil
}

func TestСклад(t *testing.T) {
	var next store
	s := NewRateLimitedСклад(&next, limittest.Limiter(t))
	limittest.Admits(t, 2, "unicodenames.Склад.Найти", func() error {
		got, err := s.Найти("a", Straße{No: 1})
		if (got == 7) != (err == nil) {
			t.Errorf("got %v, %v", got, err)
		}
		return err
	})
	next.Want(t, 2, "Найти", ЗаказID("a"), Straße{No: 1})
	limittest.Admits(t, 2, "unicodenames.Склад.Все", func() error { return s.Все(1, 2, nil, "b") })
	next.Want(t, 4, "Все", 世界(1), 世界(2), []Straße(nil), []ЗаказID{"b"})
}

type numbered struct{}

func (numbered) Put(n int, s string) (float64, error) { return float64(n + len(s)), nil }

func TestNumbered(t *testing.T) {
	n := NewRateLimitedNumbered[float64, int, int](numbered{}, limittest.Limiter(t))
	limittest.Admits(t, 2, "unicodenames.Numbered.Put", func() error {
		got, err := n.Put(1, "ab")
		if (got == 3) != (err == nil) {
			t.Errorf("got %v, %v", got, err)
		}
		return err
	})
}
