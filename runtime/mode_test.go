package ratelimit_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

func TestModeTexts(t *testing.T) {
	modes := []ratelimit.Mode{ratelimit.ModeEnforce, ratelimit.ModeShadow, ratelimit.ModeOff}
	text, err := json.Marshal(modes)
	if want := `["enforce","shadow","off"]`; err != nil || string(text) != want {
		t.Errorf("%s, %v: want %s", text, err, want)
	}
	var read []ratelimit.Mode
	if err := json.Unmarshal(text, &read); err != nil || !slices.Equal(read, modes) {
		t.Errorf("%v, %v", read, err)
	}
	mode := ratelimit.ModeShadow
	checkError(t, mode.UnmarshalText([]byte("Off")), `ratelimit: the mode is "Off": want enforce, shadow or off`)
	if mode != ratelimit.ModeShadow {
		t.Errorf("%v after an error", mode)
	}
	_, err = ratelimit.Mode(3).MarshalText()
	checkError(t, err, "ratelimit: the mode is Mode(3): want ModeEnforce, ModeShadow or ModeOff")
}

func TestWithModeRefusesWhatIsNone(t *testing.T) {
	_, err := ratelimit.New(memlimit.New(), ratelimit.WithMode(3))
	checkError(t, err, "ratelimit: WithMode(Mode(3)): want ModeEnforce, ModeShadow or ModeOff")
}

// Of the Limiter's mode and that of a limit the more lenient one holds.
func TestModeOfTheLimiter(t *testing.T) {
	limit := ratelimit.Limit{Count: 1, Period: time.Hour}
	refused, allowed := "m: rate limit exceeded: limit 1h admits the call in 1h0m0s", ""
	enforce, shadow, off := ratelimit.ModeEnforce, ratelimit.ModeShadow, ratelimit.ModeOff
	tests := []struct {
		limiter, rule ratelimit.Mode
		want          string // of the second call
		buckets       int
	}{
		{enforce, enforce, refused, 1},
		{enforce, shadow, allowed, 1},
		{enforce, off, allowed, 0},
		{shadow, enforce, allowed, 1},
		{shadow, shadow, allowed, 1},
		{shadow, off, allowed, 0},
		{off, enforce, allowed, 0},
		{off, shadow, allowed, 0},
		{off, off, allowed, 0},
	}
	for _, tt := range tests {
		t.Run(tt.limiter.String()+"/"+tt.rule.String(), func(t *testing.T) {
			in(t, func(t *testing.T) {
				store := memlimit.New()
				g := newLimiter(t, store, ratelimit.WithMode(tt.limiter)).Guard("m", ratelimit.Rule{Key: "k", Limit: limit, Mode: tt.rule})
				checkError(t, g.Allow(t.Context()), "")
				checkError(t, g.Allow(t.Context()), tt.want)
				if store.Len() != tt.buckets {
					t.Errorf("%d buckets, want %d", store.Len(), tt.buckets)
				}
			})
		})
	}
}

// Callers see where the limit stands, and are let pass.
func TestModeOfCallsWithoutAMethod(t *testing.T) {
	limit := ratelimit.Limit{Count: 1, Period: time.Hour}
	tests := []struct {
		mode ratelimit.Mode
		want []ratelimit.Result
		told []string
	}{
		{
			ratelimit.ModeEnforce,
			[]ratelimit.Result{{Allowed: true, Limit: 1, ResetAfter: time.Hour}, {Limit: 1, RetryAfter: time.Hour, ResetAfter: time.Hour}},
			[]string{"decision  1h[k]:allowed:0", "decision  1h[k]:refused:0"},
		},
		{
			ratelimit.ModeShadow,
			[]ratelimit.Result{{Allowed: true, Limit: 1, ResetAfter: time.Hour}, {Allowed: true, Limit: 1, ResetAfter: time.Hour}},
			[]string{"shadow  1h[k]:allowed:0", "shadow  1h[k]:refused:0"},
		},
		{ratelimit.ModeOff, []ratelimit.Result{{Allowed: true}, {Allowed: true}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.mode.String(), func(t *testing.T) {
			in(t, func(t *testing.T) {
				var told events
				l := newLimiter(t, memlimit.New(), ratelimit.WithMode(tt.mode), ratelimit.Observe(&told))
				for i, want := range tt.want {
					got, err := l.Allow(t.Context(), "k", limit)
					got.At = 0
					if err != nil || got != want {
						t.Errorf("call %d: %+v, %v\nwant %+v", i, got, err, want)
					}
				}
				told.check(t, tt.told...)
			})
		})
	}
}

// What a shadow does not refuse, it does not fail either.
func TestShadowOfCallsWithoutAMethod(t *testing.T) {
	var told events
	store := failing(func() error { return errDown })
	l := newLimiter(t, store, ratelimit.WithMode(ratelimit.ModeShadow), ratelimit.OnFailure(ratelimit.FailClosed), ratelimit.Observe(&told))
	got, err := l.Allow(t.Context(), "k", fivePerSecond)
	if want := (ratelimit.Result{Allowed: true}); err != nil || got != want {
		t.Errorf("%+v, %v: want %+v", got, err, want)
	}
	told.check(t, "store error  open connection refused")
	if _, err := l.Allow(t.Context(), "k", ratelimit.Limit{}); err == nil {
		t.Error("an invalid limit is no error")
	}
}

// A Limiter whose mode is lenient holds nobody up, and tells what it would have done.
func TestModeOfTheLimiterForCallsThatHold(t *testing.T) {
	shadow, off := ratelimit.ModeShadow, ratelimit.ModeOff
	hour := ratelimit.Limit{Count: 2, Period: time.Hour}
	tests := []struct {
		name  string
		mode  ratelimit.Mode
		rule  ratelimit.Rule
		told  []string // of three calls that overlap
		taken int      // calls of the store's Take
	}{
		{
			"slots in shadow", shadow,
			ratelimit.Rule{Limit: slots(1, time.Minute)},
			[]string{"shadow m n[k]:allowed:0", "shadow m n[k]:refused:0", "shadow m n[k]:refused:0"},
			3,
		},
		{"slots that are off", off, ratelimit.Rule{Limit: slots(1, time.Minute)}, nil, 0},
		{
			"a wait in shadow", shadow,
			ratelimit.Rule{Limit: ratelimit.Limit{Count: 1, Period: time.Hour}, Wait: time.Hour},
			[]string{"shadow m n[k]:allowed:0", "shadow m n[k]:allowed:0", "shadow m n[k]:refused:0"},
			3,
		},
		{"a wait that is off", off, ratelimit.Rule{Limit: hour, Wait: time.Hour}, nil, 0},
		{
			"units taken in advance, in shadow", shadow,
			ratelimit.Rule{Limit: hour, Prefetch: 2},
			[]string{"shadow m n[k]:allowed:1", "shadow m n[k]:allowed:0", "shadow m n[k]:refused:0"},
			2,
		},
		{"units taken in advance that are off", off, ratelimit.Rule{Limit: hour, Prefetch: 2}, nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				var told events
				taken := 0
				store := &hooked{Store: memlimit.New()}
				store.take = func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
					taken++
					return store.Store.Take(ctx, charges, results)
				}
				tt.rule.Key, tt.rule.Name = "k", "n"
				l := newLimiter(t, store, ratelimit.WithMode(tt.mode), ratelimit.Observe(&told))
				g := l.Guard("m", tt.rule)
				began := time.Now()
				var calls []*ratelimit.Call
				for range 3 {
					calls = append(calls, begin(t, g, t.Context()))
				}
				for _, call := range calls {
					if call.Context() != t.Context() {
						t.Error("a call that cannot lose its slot has a context of its own")
					}
					call.End()
				}
				if took := time.Since(began); took != 0 {
					t.Errorf("calls waited for %v", took)
				}
				told.check(t, tt.told...)
				if taken != tt.taken {
					t.Errorf("the store was asked %d times, want %d", taken, tt.taken)
				}
				if err := l.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
