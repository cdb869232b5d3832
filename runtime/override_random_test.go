package ratelimit_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// A limit that is overridden decides as one whose directive says the same, whoever says it: an override for all, one for the
// caller, or both.
func TestOverriddenLimitIsTheLimitThatItSays(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) { compareOverridden(t, r) })
}

// drawn is a change to a limit.
type drawn struct {
	count, burst int64
	period       time.Duration
	mode         *ratelimit.Mode
}

func drawChange(t *rapid.T, label string, bursts bool) (d drawn) {
	d.count = rapid.Int64Range(0, 5).Draw(t, label+" count")
	d.period = time.Duration(rapid.IntRange(0, 3).Draw(t, label+" seconds")) * time.Second
	if bursts {
		d.burst = rapid.Int64Range(0, 5).Draw(t, label+" burst")
	}
	if mode := rapid.IntRange(-1, 2).Draw(t, label+" mode"); mode >= 0 {
		d.mode = new(ratelimit.Mode(mode))
	}
	return d
}

// to has the change made in the directive.
func (d drawn) to(r *ratelimit.Rule) {
	if d.count != 0 {
		r.Limit.Count = d.count
	}
	if d.period != 0 {
		r.Limit.Period = d.period
	}
	if d.burst != 0 {
		r.Limit.Burst = d.burst
	}
	if d.mode != nil {
		r.Mode = *d.mode
	}
}

func compareOverridden(t *testing.T, r *rapid.T) {
	algorithm := rapid.SampledFrom([]ratelimit.Algorithm{
		ratelimit.TokenBucket, ratelimit.FixedWindow, ratelimit.SlidingLog, ratelimit.SlidingWindow, ratelimit.LeakyBucket,
	}).Draw(r, "algorithm")
	bursts := algorithm == ratelimit.TokenBucket || algorithm == ratelimit.LeakyBucket
	directive := ratelimit.Rule{Key: "get:{@user}", Name: "limit", Limit: ratelimit.Limit{Algorithm: algorithm, Count: 3, Period: 2 * time.Second}}
	other := ratelimit.Rule{Key: "get", Name: "other", Limit: ratelimit.Limit{Count: 4, Period: 3 * time.Second}}
	said := directive

	all, caller := drawChange(r, "all", bursts), drawChange(r, "caller", bursts)
	o := ratelimit.Override{Count: all.count, Period: all.period, Burst: all.burst, Mode: all.mode}
	all.to(&said)
	if rapid.Bool().Draw(r, "for the caller") {
		o.Callers = []ratelimit.CallerOverride{{
			By: map[string]string{"user": "ann"}, Count: caller.count, Period: caller.period, Burst: caller.burst, Mode: caller.mode,
		}}
		caller.to(&said)
	}
	whole := ratelimit.Mode(rapid.IntRange(0, 2).Draw(r, "whole"))

	pauses := rapid.SliceOfN(rapid.IntRange(0, 800), 1, 15).Draw(r, "pauses") // ms

	var got, want [][]string
	synctest.Test(t, func(t *testing.T) {
		overridden := newLimiter(t, memlimit.New(), ratelimit.Observe())
		plain := newLimiter(t, memlimit.New(), ratelimit.Observe(), ratelimit.WithMode(whole))
		one, other := overridden.Guard("m.Get", directive, other), plain.Guard("m.Get", said, other)
		override(t, overridden, &ratelimit.Overrides{Mode: &whole, Limits: map[string]*ratelimit.Override{"m.Get#limit": &o}})
		for _, pause := range pauses {
			time.Sleep(time.Duration(pause) * time.Millisecond)
			got, want = append(got, saidOf(t, one)), append(want, saidOf(t, other))
		}
	})
	for i := range got {
		if !slices.Equal(got[i], want[i]) {
			r.Fatalf("overridden, the limit says to call %d %q, want %q", i+1, got[i], want[i])
		}
	}
}

// saidOf is what becomes of a call of ann, in words.
func saidOf(t *testing.T, g *ratelimit.Guard) []string {
	var told recorder
	ctx := ratelimit.WithRecorder(ratelimit.WithCaller(t.Context(), "user", "ann"), &told)
	err := g.Allow(ctx)
	return append(told.lines, fmt.Sprint(err))
}
