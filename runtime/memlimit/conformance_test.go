package memlimit_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/ratelimittest"
)

func TestConformance(t *testing.T) {
	conform(t)
}

// As long as there is room, MaxKeys does not show.
func TestConformanceWithMaxKeys(t *testing.T) {
	conform(t, memlimit.MaxKeys(1_000_000))
}

func conform(t *testing.T, opts ...memlimit.Option) {
	ratelimittest.Run(t, func(t *testing.T, test ratelimittest.Test) {
		synctest.Test(t, func(t *testing.T) { test(t, memlimit.New(opts...), time.Sleep) })
	})
}
