package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

const getID = "m.Get#1s"

// getRule is the limit of that id.
var getRule = ratelimit.Rule{Key: "get", Name: "1s", Limit: ratelimit.Limit{Count: 2, Period: time.Hour}}

func overrides(id string, o ratelimit.Override) *ratelimit.Overrides {
	return &ratelimit.Overrides{Limits: map[string]*ratelimit.Override{id: &o}}
}

func override(t *testing.T, l *ratelimit.Limiter, o *ratelimit.Overrides) {
	t.Helper()
	if err := l.Override(o); err != nil {
		t.Fatal(err)
	}
}

// passed returns how many of n calls may go on.
func passed(t *testing.T, ctx context.Context, g *ratelimit.Guard, n int) (count int) {
	t.Helper()
	for range n {
		switch err := g.Allow(ctx); {
		case err == nil:
			count++
		case !errors.Is(err, ratelimit.ErrLimited):
			t.Fatal(err)
		}
	}
	return count
}

func expect(t *testing.T, what string, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %d calls are admitted, want %d", what, got, want)
	}
}

func TestOverrideHoldsFromTheNextCall(t *testing.T) {
	limiter := newLimiter(t, memlimit.New())
	guard, ctx := limiter.Guard("m.Get", getRule), t.Context()
	expect(t, "the directive", passed(t, ctx, guard, 3), 2)
	override(t, limiter, overrides(getID, ratelimit.Override{Count: 5}))
	expect(t, "a higher count, what was used stays used", passed(t, ctx, guard, 5), 3)
	override(t, limiter, overrides(getID, ratelimit.Override{Mode: new(ratelimit.ModeShadow)}))
	expect(t, "shadow", passed(t, ctx, guard, 3), 3)
	override(t, limiter, overrides(getID, ratelimit.Override{Count: 1}))
	expect(t, "a lower count", passed(t, ctx, guard, 3), 0)
	override(t, limiter, overrides(getID, ratelimit.Override{Mode: new(ratelimit.ModeOff)}))
	expect(t, "off", passed(t, ctx, guard, 3), 3)
	override(t, limiter, overrides("m.Put#1s", ratelimit.Override{Mode: new(ratelimit.ModeOff)}))
	expect(t, "that of another limit", passed(t, ctx, guard, 3), 0)
	override(t, limiter, nil)
	expect(t, "the directive again", passed(t, ctx, guard, 3), 0)
}

func TestOverrideOfEachField(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := newLimiter(t, memlimit.New())
		guard, ctx := limiter.Guard("m.Get", getRule), t.Context()
		override(t, limiter, overrides(getID, ratelimit.Override{Count: 10, Period: time.Second, Burst: 4}))
		expect(t, "the burst", passed(t, ctx, guard, 9), 4)
		time.Sleep(300 * time.Millisecond)
		expect(t, "the rate", passed(t, ctx, guard, 9), 3)

		var refused *ratelimit.LimitError
		if err := guard.Allow(ctx); !errors.As(err, &refused) {
			t.Fatalf("got %v, want a refusal", err)
		}
		want := ratelimit.Limit{Count: 10, Period: time.Second, Burst: 4}
		if refused.Name != "1s" || refused.Key != "get" || refused.Limit != want {
			t.Errorf("the refusal is by %s of %s, %+v: want 1s of get, %+v", refused.Name, refused.Key, refused.Limit, want)
		}
	})
}

// A directive may be there to be switched on.
func TestOverrideSwitchesOn(t *testing.T) {
	limiter := newLimiter(t, memlimit.New())
	off, slots := getRule, ratelimit.Rule{Key: "slots", Name: "slots", Limit: ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 1, Period: time.Minute}}
	off.Mode, slots.Mode = ratelimit.ModeOff, ratelimit.ModeOff
	guard, ctx := limiter.Guard("m.Get", off, slots), t.Context()
	begin := func() (*ratelimit.Call, error) { return guard.Begin(ctx) }
	for range 3 {
		if _, err := begin(); err != nil {
			t.Fatal(err)
		}
	}
	override(t, limiter, overrides("m.Get#slots", ratelimit.Override{Mode: new(ratelimit.ModeEnforce)}))
	call, err := begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := begin(); !errors.Is(err, ratelimit.ErrLimited) {
		t.Errorf("a second call gets %v, want a refusal", err)
	}

	// A call ends by what held when it began.
	override(t, limiter, nil)
	if _, err := begin(); err != nil {
		t.Errorf("off again, a call gets %v", err)
	}
	call.End()
	override(t, limiter, overrides("m.Get#slots", ratelimit.Override{Mode: new(ratelimit.ModeEnforce)}))
	if call, err = begin(); err != nil {
		t.Errorf("the slot was not given back: %v", err)
	} else {
		call.End()
	}
}

func TestOverrideForCallers(t *testing.T) {
	rule := getRule
	rule.Key, rule.Limit.Algorithm = "get:{@user}", ratelimit.FixedWindow
	o := ratelimit.Override{
		Count: 3,
		Callers: []ratelimit.CallerOverride{
			{By: map[string]string{"user": "ann", "tenant": "acme"}, Count: 5},
			{By: map[string]string{"user": "ann"}, Count: 4},
			{By: map[string]string{"ip": "10.0.0.0/8"}, Mode: new(ratelimit.ModeOff)},
			{By: map[string]string{"ip": "10.1.2.3"}, Count: 1},
			{By: map[string]string{"ip": "2001:db8::1"}, Count: 1},
			{By: map[string]string{"tenant": "small", "ip": "10.1.2.3"}, Count: 1},
			{By: map[string]string{"tenant": "small"}, Count: 1},
			{By: map[string]string{"user": "zoe"}, Mode: new(ratelimit.ModeShadow)},
		},
	}
	for _, test := range []struct {
		user, tenant, ip string
		want             int
	}{
		{"bob", "", "", 3},
		{"ann", "", "", 4},
		{"ann", "acme", "", 5},
		{"ann", "acme", "10.1.2.3", 5}, // the first that is matched
		{"bob", "acme", "10.1.2.3", 9},
		{"bob", "small", "10.1.2.3", 9},
		{"bob", "small", "192.0.2.1", 1},
		{"bob", "", "2001:db8::1", 1},
		{"bob", "", "2001:db8::2", 3},
		{"zoe", "", "", 9},
	} {
		t.Run(fmt.Sprintf("%s of %s at %s", test.user, test.tenant, test.ip), func(t *testing.T) {
			limiter := newLimiter(t, memlimit.New())
			guard := limiter.Guard("m.Get", rule)
			override(t, limiter, overrides(getID, o))
			ctx := ratelimit.WithCaller(t.Context(), "user", test.user)
			if test.tenant != "" {
				ctx = ratelimit.WithCaller(ctx, "tenant", test.tenant)
			}
			if test.ip != "" {
				ctx = ratelimit.WithClientIP(ctx, netip.MustParseAddr(test.ip))
			}
			expect(t, "of nine", passed(t, ctx, guard, 9), test.want)
		})
	}
}

func TestOverrideByIsAskedAtEachCall(t *testing.T) {
	premium := map[string]bool{}
	by := func(ctx context.Context, limit string) (ratelimit.Override, bool) {
		user, _ := ratelimit.Caller(ctx, "user")
		if limit != getID || !premium[user] {
			return ratelimit.Override{}, false
		}
		return ratelimit.Override{Count: 5}, true
	}
	limiter := newLimiter(t, memlimit.New(), ratelimit.OverrideBy(by))
	rule := getRule
	rule.Key = "get:{@user}"
	guard := limiter.Guard("m.Get", rule)
	ctx := ratelimit.WithCaller(t.Context(), "user", "ann")
	expect(t, "nobody is premium", passed(t, ctx, guard, 9), 2)
	premium["ann"] = true
	expect(t, "ann is", passed(t, ctx, guard, 9), 3)

	// Field by field, it goes before other overrides.
	override(t, limiter, overrides(getID, ratelimit.Override{Count: 1, Burst: 7, Callers: []ratelimit.CallerOverride{
		{By: map[string]string{"user": "ann"}, Count: 1, Burst: 8},
	}}))
	expect(t, "with the burst of an override for her", passed(t, ctx, guard, 9), 3)
}

// seen keeps the limit that decided last.
type seen struct{ limit ratelimit.Limit }

func (s *seen) Record(_ string, outcomes []ratelimit.Outcome) { s.limit = outcomes[0].Limit }

// A function may return more different values than are kept ready, and the same again.
func TestOverrideByOfManyValues(t *testing.T) {
	var count int64
	limiter := newLimiter(t, memlimit.New(), ratelimit.OverrideBy(func(context.Context, string) (ratelimit.Override, bool) {
		return ratelimit.Override{Count: count}, true
	}))
	guard := limiter.Guard("m.Get", getRule)
	var last seen
	ctx := ratelimit.WithRecorder(t.Context(), &last)
	for range 2 {
		for count = 1; count <= 1000; count++ {
			_ = guard.Allow(ctx)
			if last.limit.Count != count {
				t.Fatalf("a count of %d holds, want %d", last.limit.Count, count)
			}
		}
	}
}
