package modes

import (
	"context"
	"slices"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

type quiet struct{}

func (quiet) Hear(context.Context) error { return nil }
func (quiet) Count() int                 { return 1 }
func (quiet) Watch() int                 { return 1 }
func (quiet) Both() int                  { return 1 }

func TestLimitThatIsNotEnforcedCallsNoFallback(t *testing.T) {
	q := NewRateLimitedQuiet(quiet{}, limittest.Limiter(t))
	for name, call := range map[string]func() int{"Count": q.Count, "Watch": q.Watch, "Both": q.Both} {
		for range 3 {
			if n := call(); n != 1 {
				t.Errorf("%s: got %d, want what the service returns", name, n)
			}
		}
	}
}

type search struct{ calls int }

func (s *search) call() error { s.calls++; return nil }

func (s *search) Shadow(context.Context) error        { return s.call() }
func (s *search) Off(context.Context) error           { return s.call() }
func (s *search) Enforce(context.Context) error       { return s.call() }
func (s *search) Tighter(context.Context) error       { return s.call() }
func (s *search) Whole(context.Context, string) error { return s.call() }

func (s *search) Slots(ctx context.Context, inner func(context.Context) error) error {
	s.calls++
	return inner(ctx)
}

// recorder keeps what limits that only look on would have done, as "name" of an admitted call and "-name" of a refused one.
type recorder struct{ shadows []string }

func (r *recorder) Record(_ string, outcomes []ratelimit.Outcome) {
	for _, o := range outcomes {
		switch {
		case o.Shadow && o.Result.Allowed:
			r.shadows = append(r.shadows, o.Name)
		case o.Shadow:
			r.shadows = append(r.shadows, "-"+o.Name)
		}
	}
}

func TestLimitsThatDoNotHold(t *testing.T) {
	for _, test := range []struct {
		method   string
		call     func(ctx context.Context, s Search) error
		admitted int // of four
		shadows  []string
	}{
		{"Shadow", func(ctx context.Context, s Search) error { return s.Shadow(ctx) }, 4, []string{"1h", "-1h", "-1h", "-1h"}},
		{"Off", func(ctx context.Context, s Search) error { return s.Off(ctx) }, 4, nil},
		{"Enforce", func(ctx context.Context, s Search) error { return s.Enforce(ctx) }, 1, nil},
		// Refused calls are not counted by limits that only look on.
		{"Tighter", func(ctx context.Context, s Search) error { return s.Tighter(ctx) }, 3, []string{"next", "-next", "-next"}},
		{"Whole", func(ctx context.Context, s Search) error { return s.Whole(ctx, "some query") }, 4, nil},
		{"Slots", func(ctx context.Context, s Search) error {
			return s.Slots(ctx, func(ctx context.Context) error {
				return s.Slots(ctx, func(context.Context) error { return nil })
			})
		}, 8, slices.Repeat([]string{"30s", "-30s"}, 4)},
	} {
		next := &search{}
		s := NewRateLimitedSearch(next, limittest.Limiter(t))
		var seen recorder
		ctx := ratelimit.WithRecorder(t.Context(), &seen)
		for range 4 {
			_ = test.call(ctx, s)
		}
		if next.calls != test.admitted {
			t.Errorf("%s: %d calls reach the service, want %d", test.method, next.calls, test.admitted)
		}
		if !slices.Equal(seen.shadows, test.shadows) {
			t.Errorf("%s: recorded %q, want %q", test.method, seen.shadows, test.shadows)
		}
	}
}

// The Limiter's mode is that of all methods, but for limits whose own is more lenient.
func TestModeOfTheLimiter(t *testing.T) {
	slots := func(ctx context.Context, s Search) error {
		return s.Slots(ctx, func(ctx context.Context) error {
			return s.Slots(ctx, func(context.Context) error { return nil })
		})
	}
	enforce := func(ctx context.Context, s Search) error { return s.Enforce(ctx) }
	tighter := func(ctx context.Context, s Search) error { return s.Tighter(ctx) }
	for _, test := range []struct {
		name    string
		mode    ratelimit.Mode
		call    func(ctx context.Context, s Search) error
		shadows []string // of four calls, all of which are admitted
	}{
		{"shadow", ratelimit.ModeShadow, enforce, []string{"1h", "-1h", "-1h", "-1h"}},
		{"off", ratelimit.ModeOff, enforce, nil},
		// Of several limits that only look on all must have room, or none is charged.
		{"several in shadow", ratelimit.ModeShadow, tighter, []string{"1h", "next", "1h", "-next", "1h", "-next", "1h", "-next"}},
		{"several that are off", ratelimit.ModeOff, tighter, nil},
		{"slots in shadow", ratelimit.ModeShadow, slots, slices.Repeat([]string{"30s", "-30s"}, 4)},
		{"slots that are off", ratelimit.ModeOff, slots, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			limiter, err := ratelimit.New(memlimit.New(), ratelimit.WithMode(test.mode))
			if err != nil {
				t.Fatal(err)
			}
			s, record := NewRateLimitedSearch(&search{}, limiter), &recorder{}
			for range 4 {
				if err := test.call(ratelimit.WithRecorder(t.Context(), record), s); err != nil {
					t.Error(err)
				}
			}
			if !slices.Equal(record.shadows, test.shadows) {
				t.Errorf("recorded %q, want %q", record.shadows, test.shadows)
			}
		})
	}
}
