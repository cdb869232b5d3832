package variadic_test

import (
	"context"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	"github.com/ratelimitgen/ratelimitgen/generated_test/variadic"
)

type media struct{ limittest.Calls }

func (m *media) Find(_ context.Context, ids ...string) ([]variadic.Item, error) {
	m.Add("Find", ids)
	var items []variadic.Item
	for _, id := range ids {
		items = append(items, variadic.Item{ID: id})
	}
	return items, nil
}

func (m *media) Logf(format string, args ...any) { m.Add("Logf", format, args) }

// U06
func TestMedia(t *testing.T) {
	var next media
	m := variadic.NewRateLimitedMedia(&next, limittest.Limiter(t))
	limittest.Admits(t, 2, "variadic.Media.Find", func() error {
		items, err := m.Find(t.Context(), "a", "b")
		if err == nil && (len(items) != 2 || items[1].ID != "b") {
			t.Errorf("Find: got %v", items)
		}
		return err
	})
	next.Want(t, 2, "Find", []string{"a", "b"})

	m.Logf("none")
	next.Want(t, 3, "Logf", "none", []any(nil))
	m.Logf("%d %v", 1, []any{2})
	next.Want(t, 4, "Logf", "%d %v", []any{1, []any{2}})
}
