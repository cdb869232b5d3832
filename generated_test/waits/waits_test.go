package waits

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

type queue struct{ takes time.Duration }

func (queue) Push(context.Context, string) error  { return nil }
func (queue) Drain(context.Context, string) error { return nil }
func (queue) Window(context.Context) error        { return nil }
func (q queue) Slot(context.Context) error        { time.Sleep(q.takes); return nil }

func TestWaits(t *testing.T) {
	for _, test := range []struct {
		what string
		call func(context.Context, Queue) error
		want []time.Duration // after which calls that are made at the same time are admitted
		late int             // calls for which the wait cannot be enough
	}{
		{"token bucket", func(ctx context.Context, q Queue) error { return q.Push(ctx, "a") }, []time.Duration{0, 10 * time.Second}, 2},
		{"leaky bucket", func(ctx context.Context, q Queue) error { return q.Drain(ctx, "a") }, []time.Duration{
			0, 10 * time.Second, 20 * time.Second, 30 * time.Second,
		}, 0},
		{"fixed window", func(ctx context.Context, q Queue) error { return q.Window(ctx) }, []time.Duration{0, 10 * time.Second}, 2},
		{"slots", func(ctx context.Context, q Queue) error { return q.Slot(ctx) }, []time.Duration{3 * time.Second, 6 * time.Second}, 2},
	} {
		t.Run(test.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := NewRateLimitedQueue(queue{takes: 3 * time.Second}, limittest.Limiter(t))
				start := time.Now()
				admitted, refused := make(chan time.Duration, 9), make(chan error, 9)
				for range len(test.want) + test.late {
					go func() {
						if err := test.call(t.Context(), q); err != nil {
							refused <- err
						} else {
							admitted <- time.Since(start)
						}
					}()
					synctest.Wait() // first come, first served
				}
				for i, want := range test.want {
					if got := <-admitted; got != want {
						t.Errorf("call %d is done after %v, want %v", i+1, got, want)
					}
				}
				for range test.late {
					if err := <-refused; !errors.Is(err, ratelimit.ErrLimited) {
						t.Errorf("got %v, want a refusal", err)
					}
				}
			})
		})
	}
}

func TestContextEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewRateLimitedQueue(queue{}, limittest.Limiter(t))
		if err := q.Push(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(2*time.Second, cancel)
		start := time.Now()
		if err := q.Push(ctx, "a"); !errors.Is(err, context.Canceled) || time.Since(start) != 2*time.Second {
			t.Errorf("got %v after %v, want that the context ended after 2s", err, time.Since(start))
		}
	})
}
