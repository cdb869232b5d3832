package unnamed_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sort"
	"testing"
	"time"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	"github.com/ratelimitgen/ratelimitgen/generated_test/unnamed"
)

type mixer struct{ limittest.Calls }

func (m *mixer) Mix(_ context.Context, a, b string, c []string, d map[string]int, e chan<- time.Time, f func(int) error, g struct{}, h interface{ Len() int }, i ...any) (string, string, error) {
	m.Add("Mix", a, b, c, d, e, f, g, h, i)
	return b, a, nil
}

func (m *mixer) Open(_ context.Context, name string, options ...unnamed.Option) (int, error) {
	m.Add("Open", name, len(options))
	n := 0
	for _, option := range options {
		option(&n)
	}
	return n, nil
}

func (m *mixer) Each(a []unnamed.Address, b *unnamed.Address, c unnamed.Type, d []byte, e [2]float64, f *http.Request, g error) error {
	m.Add("Each", a, b, c, d, e, f, g)
	return nil
}

func (m *mixer) Bare(err error, ok bool) bool {
	m.Add("Bare", err, ok)
	return ok
}

func (m *mixer) Seal(a, b string, c int) { m.Add("Seal", a, b, c) }

// U08
func TestMixer(t *testing.T) {
	var next mixer
	m := unnamed.NewRateLimitedMixer(&next, limittest.Limiter(t))

	ch, fn, length := make(chan time.Time), func(int) error { return nil }, sort.StringSlice{"x"}
	limittest.Admits(t, 2, "unnamed.Mixer.Mix", func() error {
		a, b, err := m.Mix(t.Context(), "a", "b", []string{"c"}, map[string]int{"d": 1}, ch, fn, struct{}{}, length, 1, "e")
		if err == nil && (a != "b" || b != "a") {
			t.Errorf("Mix: got %q, %q", a, b)
		}
		return err
	})
	next.Want(t, 2, "Mix", "a", "b", []string{"c"}, map[string]int{"d": 1}, (chan<- time.Time)(ch), fn, struct{}{}, length, []any{1, "e"})

	add := func(n int) unnamed.Option { return func(sum *int) { *sum += n } }
	limittest.Admits(t, 2, "unnamed.Mixer.Open", func() error {
		n, err := m.Open(t.Context(), "a", add(1), add(2))
		if err == nil && n != 3 {
			t.Errorf("Open: got %d", n)
		}
		return err
	})
	next.Want(t, 4, "Open", "a", 2)

	b, r, cause := &unnamed.Address{Host: "b"}, httptest.NewRequest(http.MethodGet, "/", nil), errors.New("cause")
	limittest.Admits(t, 2, "unnamed.Mixer.Each", func() error {
		return m.Each([]unnamed.Address{{Host: "a"}}, b, "t", []byte("d"), [2]float64{1, 2}, r, cause)
	})
	next.Want(t, 6, "Each", []unnamed.Address{{Host: "a"}}, b, unnamed.Type("t"), []byte("d"), [2]float64{1, 2}, r, cause)

	if !m.Bare(cause, true) {
		t.Error("Bare: got false")
	}
	next.Want(t, 7, "Bare", cause, true)
	m.Seal("a", "b", 3)
	next.Want(t, 8, "Seal", "a", "b", 3)
}
