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

// Overrides for some callers, and the mode of the whole Limiter, are told beside what holds for all others.
func TestLimitsTellOfCallersAndOfTheMode(t *testing.T) {
	l := newLimiter(t, memlimit.New(), ratelimit.WithMode(ratelimit.ModeShadow))
	l.Guard("a.S.Get", ratelimit.Rule{Key: "k:{@user}", Limit: fivePerSecond})
	if got := l.Limits()[0].Callers; got != 0 || l.Mode() != ratelimit.ModeShadow {
		t.Errorf("%d callers, mode %v, want none and shadow", got, l.Mode())
	}
	off := ratelimit.ModeOff
	err := l.Override(&ratelimit.Overrides{Mode: &off, Limits: map[string]*ratelimit.Override{
		"a.S.Get#1s": {Callers: []ratelimit.CallerOverride{{By: map[string]string{"user": "a"}, Count: 1}, {By: map[string]string{"user": "b"}, Count: 2}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Limits()[0].Callers; got != 2 || l.Mode() != ratelimit.ModeOff {
		t.Errorf("%d callers, mode %v, want 2 and off", got, l.Mode())
	}
	if err := l.Override(nil); err != nil {
		t.Fatal(err)
	}
	if got := l.Limits()[0].Callers; got != 0 || l.Mode() != ratelimit.ModeShadow {
		t.Errorf("%d callers, mode %v after the overrides, want none and shadow", got, l.Mode())
	}
}

func TestLimitsOfNoLimiter(t *testing.T) {
	var none *ratelimit.Limiter
	if got := none.Limits(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	for name, l := range map[string]*ratelimit.Limiter{"nil": none, "zero value": {}} {
		if got := l.Mode(); got != ratelimit.ModeEnforce {
			t.Errorf("the mode of the %s is %v, want enforce", name, got)
		}
	}
}

func TestLimitID(t *testing.T) {
	if got := ratelimit.LimitID("users.Service.Get", "1s"); got != "users.Service.Get#1s" {
		t.Error(got)
	}
}
