package memlimit_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/ratelimittest"
)

func TestConformance(t *testing.T) {
	ratelimittest.Run(t, func(t *testing.T, test ratelimittest.Test) {
		synctest.Test(t, func(t *testing.T) { test(t, memlimit.New(), time.Sleep) })
	})
}
