package redislimit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// A call whose later key fails gives back what it took before, but does not wait for that longer than for its decision.
func TestUndoIsNotWaitedForForEver(t *testing.T) {
	const ms = time.Millisecond
	const a, b = "rl:{a}:tb:1m", "rl:{b}:tb:1m"
	const noAnswer, late = "no answer within 100ms", "no answer within 100ms, and it goes on for up to 2s"
	tests := []struct {
		name     string
		refuses  bool          // or it hangs
		deadline time.Duration // of the caller; 0 is none
		undo     time.Duration // how long it takes
		takes    time.Duration
		errs     []string
	}{
		{name: "a refusal", refuses: true, undo: 50 * ms, takes: 50 * ms},
		{
			name: "a refusal, and the first server hangs", refuses: true, undo: 500 * ms, takes: 100 * ms,
			errs: []string{"refund " + a + " " + late},
		},
		{
			name: "a refusal, and the first server never answers", refuses: true, undo: time.Hour, takes: 100 * ms,
			errs: []string{"refund " + a + " " + late},
		},
		{
			name: "the second server hangs", undo: 5 * ms, takes: 105 * ms,
			errs: []string{"take " + b + " " + noAnswer},
		},
		{
			name: "both servers hang", undo: 500 * ms, takes: 110 * ms,
			errs: []string{"take " + b + " " + noAnswer, "refund " + a + " " + late},
		},
		{
			name: "a deadline", deadline: 25 * ms, undo: 5 * ms, takes: 30 * ms,
			errs: []string{"take " + b + " context deadline exceeded"},
		},
		{
			name: "a deadline, and both servers hang", deadline: 25 * ms, undo: 500 * ms, takes: 35 * ms,
			errs: []string{"take " + b + " context deadline exceeded", "refund " + a + " context deadline exceeded, and it goes on for up to 2s"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				of := map[string]int{}
				var undone atomic.Int64
				client := &fake{replies: map[string][]any{a: {[]any{int64(0), int64(4), int64(1), int64(1)}, int64(0)}}}
				if test.refuses {
					client.replies[b] = []any{[]any{int64(5), int64(0), int64(5), int64(1)}}
				}
				var mu sync.Mutex
				client.serve(func(ctx context.Context, key string) error {
					mu.Lock()
					of[key]++
					n := of[key]
					mu.Unlock()
					switch {
					case key == b && !test.refuses:
						return hang(ctx, key)
					case key == a && n == 2:
						time.Sleep(test.undo)
						undone.Add(1)
					}
					return nil
				})
				store := redislimit.NewOn(client, func(_ context.Context, key string) (string, error) { return key, nil })
				ctx := t.Context()
				if test.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.deadline)
					defer cancel()
				}
				start := time.Now()
				err := store.Take(ctx, append(tb("a", 1), tb("b", 1)...), make([]ratelimit.Result, 2))
				if took := time.Since(start); took != test.takes {
					t.Errorf("took %v: want %v", took, test.takes)
				}
				var errs []string
				for _, err := range all(err) {
					e, _ := errors.AsType[*redislimit.Error](err)
					errs = append(errs, e.Method+" "+strings.Join(e.Keys, " ")+" "+e.Err.Error())
				}
				if !slices.Equal(errs, test.errs) {
					t.Errorf("errors %q: want %q", errs, test.errs)
				}
				if test.deadline > 0 && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("error %v: want one of the deadline", err)
				}
				time.Sleep(2 * time.Hour)
				if n := undone.Load(); n != 1 {
					t.Errorf("undone %d times", n)
				}
			})
		})
	}
}

// What is undone later is what was taken, though the caller has long used its memory for something else.
func TestLateUndoKeepsNothingOfTheCallers(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		const keys = 70 // more than are undone at the same time
		var charges []ratelimit.Charge
		client := &fake{replies: map[string][]any{}}
		for i := range keys {
			charges = append(charges, tb(fmt.Sprint(i), 1)...)
			client.replies[keyOf(charges[i])] = []any{[]any{int64(0), int64(4), int64(1), int64(1)}, int64(0)}
		}
		client.replies[keyOf(charges[keys-1])] = []any{[]any{int64(5), int64(0), int64(5), int64(1)}}
		var sent atomic.Int64
		client.serve(func(context.Context, string) error {
			if sent.Add(1) > keys {
				time.Sleep(200 * time.Millisecond)
			}
			return nil
		})
		store := redislimit.NewOn(client, func(_ context.Context, key string) (string, error) { return key, nil })
		if err := store.Take(t.Context(), charges, make([]ratelimit.Result, keys)); kindOf(err) != redislimit.KindTimeout {
			t.Fatal(err)
		}
		for _, c := range charges {
			copy(c.Key, "xx")
		}
		time.Sleep(time.Second)
		client.mu.Lock()
		defer client.mu.Unlock()
		for _, key := range client.sent {
			if strings.Contains(key, "x") {
				t.Errorf("sent %s", key)
			}
		}
		if n := len(client.sent); n != keys+keys-1 {
			t.Errorf("%d scripts were sent: want %d", n, keys+keys-1)
		}
	})
}

// A server that is taken off the path of calls after it has charged gets to know of the refund when it is back.
func TestUndoWaitsForAServerThatIsOffThePath(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		const a, b = "rl:{a}:tb:1m", "rl:{b}:tb:1m"
		client := &fake{replies: map[string][]any{
			a: {[]any{int64(0), int64(4), int64(1), int64(1)}},
			b: {[]any{int64(5), int64(0), int64(5), int64(1)}},
		}}
		var store *redislimit.Store
		var broken atomic.Bool
		client.serve(func(_ context.Context, key string) error {
			switch {
			case key == b && !broken.Swap(true):
				fails(t, store, "a", 5, redislimit.KindConnection)
				fails(t, store, "a", 1, redislimit.KindOutage)
				broken.Store(false)
				client.mu.Lock()
				client.replies[a] = []any{int64(0)}
				client.mu.Unlock()
				client.count()
			case key == a && broken.Load():
				return errors.New("no route")
			}
			return nil
		})
		route := func(_ context.Context, key string) (string, error) { return key, nil }
		store = redislimit.NewOn(client, route, redislimit.Timeout(0), redislimit.OnOutage(nil)) // five failures are enough
		results := make([]ratelimit.Result, 2)
		err := store.Take(t.Context(), append(tb("a", 1), tb("b", 1)...), results)
		if err != nil || results[1].Allowed {
			t.Errorf("error %v, results %+v: want a refusal", err, results)
		}
		client.mu.Lock()
		defer client.mu.Unlock()
		if want := []string{a, a}; !slices.Equal(client.sent, want) {
			t.Errorf("sent %q: want %q, the refund and where the limit stands then", client.sent, want)
		}
	})
}

// all returns the errors that are joined in one.
func all(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}
