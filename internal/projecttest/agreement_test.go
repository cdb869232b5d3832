package projecttest

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ratelimitgen/ratelimitgen/annotations"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// The generator and the runtime each have their own check of a limit, since neither imports the other. What one
// accepts and the other refuses would be a decorator that fails at its first call.
func TestGeneratorAndRuntimeAgreeOnValidLimits(t *testing.T) {
	algorithms := []ratelimit.Algorithm{
		ratelimit.TokenBucket, ratelimit.FixedWindow, ratelimit.SlidingLog, ratelimit.SlidingWindow, ratelimit.LeakyBucket, ratelimit.Concurrency,
	}
	lengths := []int{0, 1, 2, 999, 1000, 86_400_000, 366 * 86_400_000} // ms
	rapid.Check(t, func(t *rapid.T) {
		number := func(label string) int64 { // every magnitude, and many an edge
			base := rapid.SampledFrom([]int64{0, 1, 1000, 1 << 16, 1_000_000, 1 << 26, 86_400_000, 1_000_000_000}).Draw(t, label)
			return max(0, base+rapid.Int64Range(-2, 2).Draw(t, label+" offset"))
		}
		limit := ratelimit.Limit{
			Algorithm: rapid.SampledFrom(algorithms).Draw(t, "algorithm"),
			Count:     number("count"),
			Period:    time.Duration(rapid.SampledFrom([]int64{0, 1, 2, 999, 1000, 86_400_000, 366 * 86_400_000}).Draw(t, "ms")) * time.Millisecond,
			Refill:    rapid.SampledFrom([]ratelimit.Refill{ratelimit.Greedy, ratelimit.Interval}).Draw(t, "refill"),
		}
		directive := fmt.Sprintf("//ratelimit:count=%d time=%dms algorithm=%v", limit.Count, limit.Period.Milliseconds(), limit.Algorithm)
		if rapid.Bool().Draw(t, "with burst") {
			limit.Burst = max(1, number("burst"))
			directive += fmt.Sprintf(" burst=%d", limit.Burst)
		}
		if limit.Refill != ratelimit.Greedy {
			directive += fmt.Sprintf(" refill=%v", limit.Refill)
		}
		// Of the other algorithms the store is not told how long a call waits.
		charge := ratelimit.Charge{Key: []byte("key"), Limit: limit, Cost: 1}
		if hasPlaces := limit.Algorithm == ratelimit.TokenBucket || limit.Algorithm == ratelimit.LeakyBucket; hasPlaces && rapid.Bool().Draw(t, "with wait") {
			charge.Wait = time.Duration(rapid.SampledFrom(lengths[1:]).Draw(t, "wait ms")) * time.Millisecond
			directive += fmt.Sprintf(" wait=%dms", charge.Wait.Milliseconds())
		}

		_, parseErr := annotations.Parse(directive)
		if runtimeErr := ratelimit.CheckCharges([]ratelimit.Charge{charge}); (parseErr == nil) != (runtimeErr == nil) {
			t.Fatalf("%s\nannotations: %v\nruntime: %v", directive, parseErr, runtimeErr)
		}
	})
}
