package ratelimittest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

func noCharges(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	for _, do := range []string{"take", "peek", "refund", "reset", "renew"} {
		if err := perform(t, store, do, nil, nil); err != nil {
			t.Errorf("%s: %v", do, err)
		}
	}
}

// R34, U02, U05
func invalidCharges(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	limit := tokens(5, time.Minute)
	good := charge("good", limit, 1)
	waits := func(limit ratelimit.Limit, wait, delay time.Duration) []ratelimit.Charge {
		c := charge("bad", limit, 1)
		c.Wait, c.Delay = wait, delay
		return []ratelimit.Charge{good, c}
	}
	holder := func(holder string) []ratelimit.Charge {
		c := charge("bad", slots(5, time.Minute), 1)
		c.Holder = holder
		return []ratelimit.Charge{good, c}
	}
	tests := []struct {
		name    string
		charges []ratelimit.Charge
	}{
		{"limit zero", []ratelimit.Charge{good, charge("bad", ratelimit.Limit{}, 1)}},
		{"no period", []ratelimit.Charge{good, charge("bad", tokens(1, 0), 1)}},
		{"part of a microsecond", []ratelimit.Charge{good, charge("bad", tokens(1, time.Second+1), 1)}},
		{"negative burst", []ratelimit.Charge{good, charge("bad", burst(1, time.Second, -1), 1)}},
		{"negative cost", []ratelimit.Charge{good, charge("bad", limit, -1)}},
		{"one bucket twice", []ratelimit.Charge{good, good}},
		{"negative wait", waits(limit, -us, 0)},
		{"wait of part of a microsecond", waits(limit, us+1, 0)},
		{"wait for more than a billion", waits(tokens(1_000_000, s), 1001*s, 0)},
		{"wait for a window", waits(window(5, time.Minute), s, 0)},
		{"wait for a log", waits(record(5, time.Minute), s, 0)},
		{"wait for a slot", waits(slots(5, time.Minute), s, 0)},
		{"negative delay", waits(limit, 0, -us)},
		{"delay of part of a microsecond", waits(limit, 0, us+1)},
		{"holder with a space", holder("1 a")},
		{"taken before 1970", []ratelimit.Charge{good, {Key: []byte("bad"), Limit: limit, Cost: 1, Taken: -us}}},
		{"more slots than one holder can have", []ratelimit.Charge{good, charge("bad", slots(2000, time.Minute), 1001)}},
		{"holder that is no ASCII", holder("é")},
		{"holder of 129 characters", holder(strings.Repeat("x", 129))},
	}
	for _, test := range tests {
		for _, do := range []string{"take", "peek", "refund", "reset"} {
			if err := perform(t, store, do, test.charges, make([]ratelimit.Result, len(test.charges))); err == nil {
				t.Errorf("%s: %s returns no error", test.name, do)
			}
		}
	}
	for _, do := range []string{"take", "peek"} {
		if err := perform(t, store, do, []ratelimit.Charge{good}, nil); err == nil {
			t.Errorf("no room for the result: %s returns no error", do)
		}
	}
	for _, do := range []string{"take", "refund"} {
		if err := perform(t, store, do, holder(""), make([]ratelimit.Result, 2)); err == nil {
			t.Errorf("no holder: %s returns no error", do)
		}
	}
	expect(t, store, "peek", good, ratelimit.Result{Allowed: true, Limit: 5, Remaining: 5})
}

func invalidRenewals(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	good := charge("good", slots(5, time.Minute), 1)
	expect(t, store, "take", good, ratelimit.Result{Allowed: true, Limit: 5, Remaining: 4, ResetAfter: time.Minute})
	nobody, broken := good, good
	nobody.Holder = ""
	broken.Cost = -1
	tests := []struct {
		name    string
		charges []ratelimit.Charge
		answers int
	}{
		{"no lease", []ratelimit.Charge{good, charge("bucket", tokens(5, time.Minute), 1)}, 2},
		{"no holder", []ratelimit.Charge{good, nobody}, 2},
		{"negative cost", []ratelimit.Charge{good, broken}, 2},
		{"no room for the answer", []ratelimit.Charge{good}, 0},
	}
	for _, test := range tests {
		if err := perform(t, store, "renew", test.charges, make([]ratelimit.Result, test.answers)); err == nil {
			t.Errorf("%s: renew returns no error", test.name)
		}
	}
	expect(t, store, "peek", good, ratelimit.Result{Allowed: true, Limit: 5, Remaining: 4, ResetAfter: time.Minute})
}

// S15
func endedContext(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	charges, results := []ratelimit.Charge{charge("ended", tokens(5, time.Minute), 1)}, make([]ratelimit.Result, 1)
	errs := map[string]error{
		"take":   store.Take(ctx, charges, results),
		"peek":   store.Peek(ctx, charges, results),
		"refund": store.Refund(ctx, charges),
		"reset":  store.Reset(ctx, charges),
	}
	if renewer, ok := store.(ratelimit.Renewer); ok {
		lease := charge("ended", slots(5, time.Minute), 1)
		errs["renew"] = renewer.Renew(ctx, []ratelimit.Charge{lease}, make([]bool, 1))
	}
	for do, err := range errs {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v: want context.Canceled", do, err)
		}
	}
	expect(t, store, "peek", charges[0], ratelimit.Result{Allowed: true, Limit: 5, Remaining: 5})
}
