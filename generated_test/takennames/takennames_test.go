package takennames

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	stdtime "time"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type clock struct{}

func (clock) Now(context.Context, ...int) (stdtime.Time, error) { return stdtime.Unix(1, 0), nil }
func (clock) ServeHTTP(w http.ResponseWriter, _ *http.Request)  { w.WriteHeader(http.StatusTeapot) }
func (clock) Tick() (time, error)                               { return time{at: 7}, nil }

func TestClock(t *testing.T) {
	c := NewRateLimitedClock(clock{}, limittest.Limiter(t))
	limittest.Admits(t, 2, "takennames.Clock.Now", func() error {
		now, err := c.Now(t.Context(), 1)
		if err == nil && now.Unix() != 1 {
			t.Errorf("got %v", now)
		}
		return err
	})
	for _, status := range []int{418, 418, 429} {
		w := httptest.NewRecorder()
		c.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		if w.Code != status {
			t.Errorf("got %d, want %d", w.Code, status)
		}
	}
}

func TestAware(t *testing.T) {
	a := NewRateLimitedAware(clock{}, limittest.Limiter(t))
	limittest.Admits(t, 2, "takennames.Aware.Tick", func() error {
		got, err := a.Tick()
		if err == nil && got.at != 7 {
			t.Errorf("got %v", got)
		}
		return err
	})
}
