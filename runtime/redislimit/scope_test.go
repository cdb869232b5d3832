package redislimit_test

import (
	"context"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/costs"
	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

type exports struct{ costs.Export }

func (exports) Negative(context.Context, int) error { return nil }

// S21: a limit is its key's, in Redis as in memory: two decorators that share a store share it.
func TestTwoDecoratorsShareALimit(t *testing.T) {
	for name, store := range map[string]ratelimit.Store{
		"memory": memlimit.New(),
		"Redis":  redislimit.NewPatient(redistest.Client(t)),
	} {
		limiter, err := ratelimit.New(store)
		if err != nil {
			t.Fatal(err)
		}
		allowed := 0
		for range 2 {
			decorator := costs.NewRateLimitedExport(exports{}, limiter)
			for range 3 {
				if decorator.Negative(t.Context(), 1) == nil {
					allowed++
				}
			}
		}
		if allowed != 5 {
			t.Errorf("%s: %d of 6 calls were allowed: want 5", name, allowed)
		}
	}
}
