package ratelimit_test

import (
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
		{enforce, enforce, refused, 1}, {enforce, shadow, allowed, 1}, {enforce, off, allowed, 0},
		{shadow, enforce, allowed, 1}, {shadow, shadow, allowed, 1}, {shadow, off, allowed, 0},
		{off, enforce, allowed, 0}, {off, shadow, allowed, 0}, {off, off, allowed, 0},
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
