package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// overrideEvents keeps what an Observer is told of overrides.
type overrideEvents struct {
	mu     sync.Mutex
	events []string
}

func (o *overrideEvents) Observe(_ context.Context, e *ratelimit.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case e.Kind != ratelimit.EventOverrides:
	case e.Err == nil:
		o.events = append(o.events, "taken")
	default:
		o.events = append(o.events, e.Err.Error())
	}
}

// expect compares what was told since it was called last.
func (o *overrideEvents) expect(t *testing.T, want ...string) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Equal(o.events, want) {
		t.Errorf("told %q, want %q", o.events, want)
	}
	o.events = nil
}

// wantError compares the text of an error, without what stands before each line of it.
func wantError(t *testing.T, err error, want ...string) {
	t.Helper()
	got := "<nil>"
	if err != nil {
		got = err.Error()
	}
	for i := range want {
		want[i] = "ratelimit: override of " + want[i]
	}
	if got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestOverrideThatNoLimitCanHave(t *testing.T) {
	mode := ratelimit.Mode(7)
	limiter := newLimiter(t, memlimit.New())
	wantError(t, limiter.Override(overrides("m.Other#1s", ratelimit.Override{Count: -1, Period: time.Microsecond, Burst: 1e9 + 1, Mode: &mode, Fail: "never"})),
		"m.Other#1s: count is -1: want 1 to 1000000000\n"+
			"time is 1µs: want 1ms to 87600h0m0s\n"+
			"burst is 1000000001: want 1 to 1000000000\n"+
			"mode is Mode(7): want enforce, shadow or off\n"+
			`fail is "never": want local, open or closed`)
	wantError(t, limiter.Override(overrides("m.Other#1s", ratelimit.Override{Callers: []ratelimit.CallerOverride{
		{Count: 5},
		{By: map[string]string{"user": "ann"}, Period: 1500},
		{By: map[string]string{"ip": "10.0.0.0/8/8", "user": ""}},
	}})),
		"m.Other#1s, callers 1: by is empty: want attributes of the caller, such as user: ann",
		"m.Other#1s, callers 2: time is 1.5µs: want 1ms to 87600h0m0s",
		`m.Other#1s, callers 3: ip is "10.0.0.0/8/8": want an address or a network, such as 203.0.113.7 or 10.0.0.0/8`+"\n"+
			"user is empty: want the value of the caller")
	wantError(t, limiter.Override(overrides("m.Other", ratelimit.Override{})), "m.Other: want an id, such as users.Service.Get#1s")
	err := limiter.Override(&ratelimit.Overrides{Mode: &mode})
	if want := "ratelimit: overrides: mode is Mode(7): want enforce, shadow or off"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A call must not wait until a great many are made ready, nor look through them.
func TestMoreCallersThanAnOverrideMayHave(t *testing.T) {
	limiter := newLimiter(t, memlimit.New())
	callers := func(n int, attribute, value string) ratelimit.Override {
		all := make([]ratelimit.CallerOverride, n)
		for i := range all {
			all[i] = ratelimit.CallerOverride{By: map[string]string{attribute: fmt.Sprintf(value, i/256, i%256)}, Count: 5}
		}
		return ratelimit.Override{Callers: all}
	}
	override(t, limiter, overrides(getID, callers(10_000, "ip", "10.0.%d.%d")))
	override(t, limiter, overrides(getID, callers(1000, "ip", "10.%d.%d.0/24")))
	wantError(t, limiter.Override(overrides(getID, callers(10_001, "user", "%d-%d"))), getID+": callers are 10001: want at most 10000, and OverrideBy for more")
	wantError(t, limiter.Override(overrides(getID, callers(1001, "ip", "10.%d.%d.0/24"))),
		getID+": networks of callers are 1001: want at most 1000, and OverrideBy for more")
}

func TestOverrideThatThisLimitCannotHave(t *testing.T) {
	token := ratelimit.Limit{Count: 10, Period: time.Second}
	for _, test := range []struct {
		name     string
		rule     ratelimit.Rule
		override ratelimit.Override
		want     string
	}{
		{
			"a burst for a window",
			ratelimit.Rule{Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 10, Period: time.Second}},
			ratelimit.Override{Burst: 5},
			"burst is 5: fixed-window has no burst",
		},
		{
			"more than the clock counts",
			ratelimit.Rule{Limit: token},
			ratelimit.Override{Count: 2_000_000},
			"2000000 per 1s is more than 1000000 a second: a store's clock counts microseconds",
		},
		{
			"longer than a store can tell",
			ratelimit.Rule{Limit: token},
			ratelimit.Override{Count: 1, Period: 366 * 24 * time.Hour, Burst: 1000},
			"a bucket of 1000 that refills 1 per 8784h0m0s is full after more than 100 years",
		},
		{"less than a call costs", ratelimit.Rule{Limit: token, Cost: 5}, ratelimit.Override{Count: 4}, "the capacity is 4: want at least what a call costs, 5"},
		{
			"more slots than a call can have",
			ratelimit.Rule{Limit: ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 10, Period: time.Second}, Cost: 2000},
			ratelimit.Override{Count: 2000},
			"count is 2000: a call takes 2000 slots, and can have at most 1000",
		},
		{
			"a wait in which more come than a bucket counts",
			ratelimit.Rule{Limit: token, Wait: time.Hour},
			ratelimit.Override{Count: 1_000_000},
			"wait is 1h0m0s: 1000000 per 1s come to more than 1000000000 in that time",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			limiter := newLimiter(t, memlimit.New())
			test.rule.Key, test.rule.Name = "get:{@user}", "1s"
			limiter.Guard("m.Get", test.rule)
			before := limiter.Limits()[0].Holds
			wantError(t, limiter.Override(overrides(getID, test.override)), getID+": "+test.want)
			if got := limiter.Limits()[0].Holds; got != before {
				t.Errorf("%+v holds, want %+v as before", got, before)
			}

			// For some callers it is no different.
			o := test.override
			caller := ratelimit.CallerOverride{By: map[string]string{"user": "ann"}, Count: o.Count, Period: o.Period, Burst: o.Burst}
			wantError(t, limiter.Override(overrides(getID, ratelimit.Override{Callers: []ratelimit.CallerOverride{caller}})), getID+", callers 1: "+test.want)
		})
	}
}

// Half of what somebody asked for is not what they asked for.
func TestOverridesAreTakenAsAWhole(t *testing.T) {
	var told overrideEvents
	limiter := newLimiter(t, memlimit.New(), ratelimit.Observe(&told))
	other := getRule
	other.Limit.Algorithm = ratelimit.FixedWindow
	guard, ctx := limiter.Guard("m.Get", getRule), t.Context()
	limiter.Guard("m.Put", other)
	override(t, limiter, overrides(getID, ratelimit.Override{Count: 3}))
	told.expect(t, "taken")
	wantError(t, limiter.Override(&ratelimit.Overrides{Limits: map[string]*ratelimit.Override{
		getID: {Count: 5}, "m.Put#1s": {Burst: 5},
	}}), "m.Put#1s: burst is 5: fixed-window has no burst")
	told.expect(t) // the caller has the error
	expect(t, "the last good state", passed(t, ctx, guard, 9), 3)
}

// What was taken before the limit was there cannot be refused any more.
func TestGuardThatIsMadeLater(t *testing.T) {
	var told overrideEvents
	limiter := newLimiter(t, memlimit.New(), ratelimit.Observe(&told))
	override(t, limiter, &ratelimit.Overrides{Limits: map[string]*ratelimit.Override{
		getID: {Burst: 5}, "m.Get#day": {Count: 3}, "m.Put#1s": {Count: 1},
	}})
	told.expect(t, "taken")
	window, day := getRule, ratelimit.Rule{Key: "get", Name: "day", Limit: ratelimit.Limit{Count: 9, Period: 24 * time.Hour}}
	window.Limit.Algorithm, window.Limit.Count = ratelimit.FixedWindow, 8
	guard, ctx := limiter.Guard("m.Get", window, day), t.Context()
	expect(t, "of nine, with that of the other limit", passed(t, ctx, guard, 9), 3)
	told.expect(t, "ratelimit: override of m.Get#1s: burst is 5: fixed-window has no burst")
	expect(t, "one of another method", passed(t, ctx, limiter.Guard("m.Put", getRule), 9), 1)
	told.expect(t)
}

// Units that were taken in advance are for the limit that they were taken of.
func TestPrefetchIsNeverMoreThanTheLimit(t *testing.T) {
	store := memlimit.New()
	limiter := newLimiter(t, store)
	rule := getRule
	rule.Limit.Count, rule.Prefetch = 100, 50
	guard, ctx := limiter.Guard("m.Get", rule), t.Context()
	expect(t, "the directive", passed(t, ctx, guard, 1), 1)
	for o, want := range map[[2]int64]int64{{60, 0}: 50, {40, 0}: 40, {1, 0}: 0, {60, 30}: 30, {60, 1}: 0} {
		override(t, limiter, overrides(getID, ratelimit.Override{Count: o[0], Burst: o[1]}))
		if got := limiter.Limits()[0].Holds.Prefetch; got != want {
			t.Errorf("of a count of %d and a burst of %d, %d are taken at once: want %d", o[0], o[1], got, want)
		}
	}
	if err := limiter.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestOverrideByThatALimitCannotHave(t *testing.T) {
	in(t, func(t *testing.T) {
		var told overrideEvents
		ask := ratelimit.Override{Count: -1}
		limiter := newLimiter(t, memlimit.New(), ratelimit.Observe(&told), ratelimit.OverrideBy(func(context.Context, string) (ratelimit.Override, bool) { return ask, true }))
		guard, ctx := limiter.Guard("m.Get", getRule), t.Context()
		expect(t, "the directive", passed(t, ctx, guard, 9), 2)
		told.expect(t, "ratelimit: override of m.Get#1s, by OverrideBy: count is -1: want 1 to 1000000000") // once
		ask = ratelimit.Override{Count: 3, Period: time.Millisecond, Burst: 5_000_000}
		passed(t, ctx, guard, 2)
		told.expect(t)
		time.Sleep(time.Minute)
		ask = ratelimit.Override{Count: 1001, Period: time.Millisecond}
		passed(t, ctx, guard, 2)
		told.expect(t, "ratelimit: override of m.Get#1s, by OverrideBy: 1001 per 1ms is more than 1000000 a second: a store's clock counts microseconds")
	})
}

// A credit that is used up, say, is another impossible value at each call: that is no line a call, and a limit beside it has its own.
func TestOverrideByThatReturnsEverOtherWrongValues(t *testing.T) {
	in(t, func(t *testing.T) {
		var told overrideEvents
		var asked int64
		limiter := newLimiter(t, memlimit.New(), ratelimit.Observe(&told), ratelimit.OverrideBy(func(context.Context, string) (ratelimit.Override, bool) {
			asked--
			return ratelimit.Override{Count: asked}, true
		}))
		ctx := t.Context()
		for range 120 { // seconds
			for range 10 {
				_ = limiter.Guard("m.Get", getRule).Allow(ctx) // made anew for each call
			}
			time.Sleep(time.Second)
		}
		_ = limiter.Guard("m.Put", getRule).Allow(ctx)
		told.expect(t,
			"ratelimit: override of m.Get#1s, by OverrideBy: count is -1: want 1 to 1000000000",
			"ratelimit: override of m.Get#1s, by OverrideBy: count is -601: want 1 to 1000000000",
			"ratelimit: override of m.Put#1s, by OverrideBy: count is -1201: want 1 to 1000000000")
	})
}

func TestOverridesOfNoLimiter(t *testing.T) {
	for name, limiter := range map[string]*ratelimit.Limiter{"nil": nil, "the zero value": new(ratelimit.Limiter)} {
		for call, err := range map[string]error{
			"Override":       limiter.Override(&ratelimit.Overrides{}),
			"CheckOverrides": limiter.CheckOverrides(nil),
			"Watch":          limiter.Watch(t.Context(), ratelimit.NewOverrides()),
		} {
			if err == nil || !strings.HasPrefix(err.Error(), "ratelimit: no store") {
				t.Errorf("%s of %s: got %v, want the error for no store", call, name, err)
			}
		}
	}
	if err := newLimiter(t, memlimit.New()).Watch(t.Context(), nil); err == nil || err.Error() != "ratelimit: Watch(nil): want an OverrideSource" {
		t.Errorf("Watch of nothing: %v", err)
	}
	if _, err := ratelimit.New(memlimit.New(), ratelimit.OverrideBy(nil)); err == nil || err.Error() != "ratelimit: OverrideBy(nil): want a function" {
		t.Errorf("OverrideBy of nothing: %v", err)
	}
	if errors.Is(newLimiter(t, memlimit.New()).Override(nil), ratelimit.ErrLimited) {
		t.Error("taking back nothing is refused")
	}
}
