package leakybucket_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ratelimitgen/ratelimitgen/generated_test/leakybucket"
	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type pump struct{}

func (pump) Stroke(context.Context) error { return nil }
func (pump) Prime(context.Context) error  { return nil }

func TestBucketDrainsContinuously(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := leakybucket.NewRateLimitedPump(pump{}, limittest.Limiter(t))
		stroke := func() error { return p.Stroke(t.Context()) }
		limittest.Admits(t, 3, "leakybucket.Pump.Stroke", stroke)
		time.Sleep(500*time.Millisecond - time.Microsecond)
		limittest.Admits(t, 0, "leakybucket.Pump.Stroke", stroke)
		time.Sleep(time.Microsecond)
		limittest.Admits(t, 1, "leakybucket.Pump.Stroke", stroke)
		limittest.Admits(t, 1, "leakybucket.Pump.Prime", func() error { return p.Prime(t.Context()) })
	})
}
