//go:build !race

package promlimit_test

import (
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/promlimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// A call pays for its metrics with time, not with memory. Under the race detector it may, since sync.Pool then forgets by chance.
func TestObservedCallAllocatesNothing(t *testing.T) {
	limiter := newLimiter(t, memlimit.New(), ratelimit.Observe(promlimit.New()))
	plenty := ratelimit.Limit{Count: 1_000_000, Period: time.Hour}
	guard := limiter.Guard("m", ratelimit.Rule{Key: "k", Limit: plenty}, ratelimit.Rule{Key: "k", Name: "b", Limit: plenty})
	ctx := t.Context()
	if allocs := testing.AllocsPerRun(1000, func() { _ = guard.Allow(ctx) }); allocs != 0 {
		t.Errorf("a call allocates %v times", allocs)
	}
}
