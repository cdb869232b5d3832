package ratelimit_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// recordedBy returns what is recorded of n calls, of which none must be refused unless want is given.
func recordedBy(t *testing.T, g *ratelimit.Guard, n int, want ...string) []string {
	t.Helper()
	recorded := &recorder{}
	ctx := ratelimit.WithRecorder(t.Context(), recorded)
	for i := range n {
		err := ""
		if i < len(want) {
			err = want[i]
		}
		checkError(t, g.Allow(ctx), err)
	}
	return recorded.lines
}

func TestShadowRefusesNobody(t *testing.T) {
	limit := ratelimit.Limit{Count: 1, Period: time.Hour}
	tests := []struct {
		name    string
		rules   []ratelimit.Rule
		errors  []string // of the first calls
		lines   []string // recorded of three calls
		buckets int      // that are left
	}{
		{
			"alone",
			[]ratelimit.Rule{{Key: "k", Name: "a", Limit: limit, Mode: ratelimit.ModeShadow}},
			nil,
			[]string{"m a true 0 shadow", "m a false 0 shadow", "m a false 0 shadow"},
			1,
		},
		{
			"beside one that holds",
			[]ratelimit.Rule{{Key: "k", Name: "a", Limit: limit}, {Key: "k", Name: "b", Limit: ratelimit.Limit{Count: 5, Period: time.Hour}, Mode: ratelimit.ModeShadow}},
			[]string{"", "m: rate limit exceeded: limit a admits the call in 1h0m0s", "m: rate limit exceeded: limit a admits the call in 1h0m0s"},
			[]string{"m a true 0", "m b true 4 shadow", "m a false 0", "m a false 0"},
			2,
		},
		{
			"a wait is counted, and not waited for",
			[]ratelimit.Rule{{Key: "k", Name: "a", Limit: limit, Mode: ratelimit.ModeShadow, Wait: 2 * time.Hour}},
			nil,
			[]string{"m a true 0 shadow", "m a true 0 shadow", "m a true 0 shadow"},
			1,
		},
		{
			"for want of an attribute",
			[]ratelimit.Rule{{Key: "k:{@ip}", Name: "a", Limit: limit, Mode: ratelimit.ModeShadow}},
			nil,
			[]string{"m a false 0 shadow", "m a false 0 shadow", "m a false 0 shadow"},
			0,
		},
		{
			"off",
			[]ratelimit.Rule{{Key: "k", Name: "a", Limit: limit, Mode: ratelimit.ModeOff}},
			nil, nil, 0,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				store := memlimit.New()
				lines := recordedBy(t, newLimiter(t, store).Guard("m", tt.rules...), 3, tt.errors...)
				if !slices.Equal(lines, tt.lines) || store.Len() != tt.buckets {
					t.Errorf("recorded %q, %d buckets\nwant     %q, %d", lines, store.Len(), tt.lines, tt.buckets)
				}
			})
		})
	}
}

func TestInvalidRuleThatIsOffLetsNothingPass(t *testing.T) {
	g := newLimiter(t, memlimit.New()).Guard("m", ratelimit.Rule{Key: "k", Mode: ratelimit.ModeOff})
	checkError(t, g.Allow(t.Context()), "m: rate limit undecided: ratelimit: Limit.Count is 0: want 1 to 1000000000\n"+
		"ratelimit: Limit.Period is 0s: want 1ms to 87600h0m0s")
}

func TestSlotsOfAShadow(t *testing.T) {
	in(t, func(t *testing.T) {
		store := memlimit.New()
		g := newLimiter(t, store).Guard("m", ratelimit.Rule{Key: "k", Name: "a", Limit: slots(1, 3*time.Second), Mode: ratelimit.ModeShadow})
		recorded := &recorder{}
		ctx := ratelimit.WithRecorder(t.Context(), recorded)
		first := begin(t, g, ctx)
		time.Sleep(10 * time.Second) // its lease is renewed
		second := begin(t, g, ctx)
		second.End()
		first.End()
		begin(t, g, ctx).End()
		want := []string{"m a true 0 shadow", "m a false 0 shadow", "m a true 0 shadow"}
		if !slices.Equal(recorded.lines, want) || store.Len() != 0 {
			t.Errorf("recorded %q, %d slots are left", recorded.lines, store.Len())
		}
		if first.Context() != ctx {
			t.Error("a call that cannot lose its slot has a context of its own")
		}
	})
}

func TestRefundOfAShadow(t *testing.T) {
	in(t, func(t *testing.T) {
		g := newLimiter(t, memlimit.New()).Guard("m",
			ratelimit.Rule{Key: "k", Name: "a", Limit: ratelimit.Limit{Count: 5, Period: time.Hour}},
			ratelimit.Rule{Key: "k", Name: "b", Limit: ratelimit.Limit{Count: 1, Period: time.Hour}, Mode: ratelimit.ModeShadow},
		)
		recorded := &recorder{}
		ctx := ratelimit.WithRecorder(t.Context(), recorded)
		for range 2 {
			call := begin(t, g, ctx)
			call.Refund("b")
			call.End()
		}
		if want := []string{"m a true 4", "m b true 0 shadow", "m a true 3", "m b true 0 shadow"}; !slices.Equal(recorded.lines, want) {
			t.Errorf("recorded %q", recorded.lines)
		}
	})
}

func TestShadowOfAStoreThatDoesNotAnswer(t *testing.T) {
	store := &hooked{Store: memlimit.New()}
	store.take = func(context.Context, []ratelimit.Charge, []ratelimit.Result) error {
		return errors.New("connection refused")
	}
	g := newLimiter(t, store).Guard("m", ratelimit.Rule{Key: "k", Limit: fivePerSecond, Mode: ratelimit.ModeShadow})
	if lines := recordedBy(t, g, 1); lines != nil {
		t.Errorf("recorded %q", lines)
	}
}
