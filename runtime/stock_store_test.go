package ratelimit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

func TestUnitsServeWhileTheStoreIsAway(t *testing.T) {
	for _, tt := range []struct {
		fail ratelimit.Failure
		want string // of 5 calls, while 3 units lie here and the local limit admits 1
	}{
		{ratelimit.FailLocal, "aaaar"}, {ratelimit.FailOpen, "aaaaa"}, {ratelimit.FailClosed, "aaaee"},
	} {
		in(t, func(t *testing.T) {
			store := newCounter()
			l := newLimiter(t, store, ratelimit.LocalStore(memlimit.New()), ratelimit.Instances(10), ratelimit.OnFailure(tt.fail), new(errorsOf).option())
			g := l.Guard("m", stocked(window(10, time.Hour), 4))
			calls(t, g, 1)
			store.take = func(context.Context, []ratelimit.Charge, []ratelimit.Result) error {
				return errors.New("connection refused")
			}
			var got strings.Builder
			for range 5 {
				switch err := g.Allow(t.Context()); {
				case err == nil:
					got.WriteByte('a')
				case errors.Is(err, ratelimit.ErrLimited):
					got.WriteByte('r')
				default:
					got.WriteByte('e')
				}
			}
			if got.String() != tt.want {
				t.Errorf("%s: calls are %s: want %s", tt.fail, &got, tt.want)
			}
		})
	}
}

func TestUnitsOfALostReplyAreTaken(t *testing.T) {
	in(t, func(t *testing.T) {
		store, limit := newCounter(), window(10, time.Hour)
		lost := true
		store.take = func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
			err := store.Store.Take(ctx, charges, results)
			if lost {
				return errors.New("connection reset")
			}
			return err
		}
		l := newLimiter(t, store, ratelimit.OnFailure(ratelimit.FailClosed))
		g := l.Guard("m", stocked(limit, 4))
		checkError(t, g.Allow(t.Context()), "m: rate limit undecided: connection reset")
		lost = false
		if n := calls(t, g, 10); n != 6 {
			t.Errorf("%d calls were admitted: want the 6 whose units were not lost", n)
		}
	})
}

// Without the store's time, no answer tells which window it is of.
func TestStoreThatDoesNotTellItsTime(t *testing.T) {
	in(t, func(t *testing.T) {
		store := newCounter()
		take := store.take
		store.take = func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
			defer func() { results[0].At = 0 }()
			return take(ctx, charges, results)
		}
		g := newLimiter(t, store).Guard("m", stocked(window(20, time.Minute), 10))
		admitted := 0
		for range 25 {
			admitted += calls(t, g, 1)
			time.Sleep(100 * time.Microsecond)
		}
		if admitted != 20 {
			t.Errorf("%d calls were admitted: want 20", admitted)
		}
		store.check(t, slices.Concat([]int64{10}, slices.Repeat([]int64{1}, 15))...)
	})
}

func TestCallAsksTwiceAtMost(t *testing.T) {
	in(t, func(t *testing.T) {
		store, limit := newCounter(), window(1000, time.Hour)
		calls(t, newLimiter(t, store).Guard("m", rule(limit)), 950)
		store.asked = nil
		g := newLimiter(t, store).Guard("m", stocked(limit, 100))
		calls(t, g, 1)
		store.check(t, 100, 1)
		calls(t, g, 2)
		store.check(t, 49)
	})
}
