package modes

import (
	"context"
	"slices"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
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
