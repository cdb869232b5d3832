package ratelimit_test

import (
	"slices"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

func TestLimitsAreThoseOfTheGuards(t *testing.T) {
	day := ratelimit.Limit{Count: 9, Period: 24 * time.Hour}
	l := newLimiter(t, memlimit.New(), ratelimit.WithMode(ratelimit.ModeShadow))
	first := ratelimit.Rule{Key: "k", Limit: fivePerSecond}
	second := ratelimit.Rule{Key: "k", Limit: day, Name: "daily", Mode: ratelimit.ModeOff}
	l.Guard("b.S.Get", first, second)
	for range 3 {
		l.Guard("a.S.Put", first)
	}
	l.Guard("c.S.Bad", first, ratelimit.Rule{Key: "k"})
	if _, err := l.Allow(t.Context(), "k", day); err != nil {
		t.Error(err)
	}
	shadow := first
	shadow.Mode = ratelimit.ModeShadow
	want := []ratelimit.LimitInfo{
		{ID: "a.S.Put#1s", Method: "a.S.Put", Name: "1s", Rule: first, Holds: shadow},
		{ID: "b.S.Get#1s", Method: "b.S.Get", Name: "1s", Rule: first, Holds: shadow},
		{ID: "b.S.Get#daily", Method: "b.S.Get", Name: "daily", Rule: second, Holds: second},
	}
	if got := l.Limits(); !slices.Equal(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}

	changed := first
	changed.Limit = day
	changed.Name = "1s"
	l.Guard("a.S.Put", changed)
	if got := l.Limits(); len(got) != 3 || got[0].Rule != changed {
		t.Errorf("%+v: want the guard that was made last", got)
	}
}

func TestLimitsOfNoLimiter(t *testing.T) {
	var none *ratelimit.Limiter
	if got := none.Limits(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestLimitID(t *testing.T) {
	if got := ratelimit.LimitID("users.Service.Get", "1s"); got != "users.Service.Get#1s" {
		t.Error(got)
	}
}
