package slidingwindow_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	"github.com/ratelimitgen/ratelimitgen/generated_test/slidingwindow"
)

type search struct{ limittest.Calls }

func (s *search) Find(_ context.Context, text string) error {
	s.Add("Find", text)
	return nil
}

func TestPreviousWindowCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // begins at midnight, where a window does
		var next search
		s := slidingwindow.NewRateLimitedSearch(&next, limittest.Limiter(t))
		find := func() error { return s.Find(t.Context(), "gophers") }
		limittest.Admits(t, 4, "slidingwindow.Search.Find", find)
		time.Sleep(10 * time.Second)
		limittest.Admits(t, 0, "slidingwindow.Search.Find", find)
		time.Sleep(5 * time.Second)
		limittest.Admits(t, 2, "slidingwindow.Search.Find", find)
		next.Want(t, 6, "Find", "gophers")
	})
}
