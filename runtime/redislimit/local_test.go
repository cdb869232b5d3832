package redislimit_test

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// S14: while the server is gone, limits hold in this process; one that must be shared says so.
func TestServerThatIsGone(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1, DialerRetries: 1})
	t.Cleanup(func() { _ = client.Close() })
	limiter, err := ratelimit.New(redislimit.NewPatient(client))
	if err != nil {
		t.Fatal(err)
	}
	rule := ratelimit.Rule{Key: "k", Limit: ratelimit.Limit{Count: 2, Period: time.Hour}}
	local := limiter.Guard("m", rule)
	for i := range 3 {
		if err := local.Allow(t.Context()); (err == nil) != (i < 2) || err != nil && !errors.Is(err, ratelimit.ErrLimited) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	rule.Fail = ratelimit.FailClosed
	var undecided *ratelimit.DecisionError
	if err := limiter.Guard("m", rule).Allow(t.Context()); !errors.As(err, &undecided) || errors.Is(err, ratelimit.ErrLimited) {
		t.Errorf("closed: %v", err)
	}
}
