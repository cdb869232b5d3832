package redislimit_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// An outage is told once. A method has told what failed before it was one, and nothing of the calls that go
// on without Redis.
func TestOutageIsNotToldCallByCall(t *testing.T) {
	for _, failure := range []ratelimit.Failure{ratelimit.FailLocal, ratelimit.FailOpen, ratelimit.FailClosed} {
		t.Run(string(failure), func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				var told strings.Builder
				want := `level=WARN msg="rate limit: the store is away" server=redis error="no answer within 100ms"` + "\n"
				if failure != ratelimit.FailClosed { // which callers are told
					want = `level=WARN msg="rate limit" method=m error="redislimit: take \"rl:{k}:tb:1h\": no answer within 100ms"` + "\n" + want
				}
				logger := slog.New(slog.NewTextHandler(&told, &slog.HandlerOptions{ReplaceAttr: withoutTime}))
				store := redislimit.NewOn(&fake{do: hang}, nil)
				limiter, err := ratelimit.New(store, ratelimit.OnFailure(failure),
					ratelimit.Observe(ratelimit.Log(logger)))
				if err != nil {
					t.Fatal(err)
				}
				guard := limiter.Guard("m", ratelimit.Rule{Key: "k", Limit: ratelimit.Limit{Count: 1e6, Period: time.Hour}})
				away := false
				for began := time.Now(); time.Since(began) < 5*time.Minute; time.Sleep(50 * time.Millisecond) {
					err := guard.Allow(t.Context())
					if e, ok := errors.AsType[*redislimit.Error](err); ok && e.Away() {
						away = true
					}
				}
				synctest.Wait()
				if closed := failure == ratelimit.FailClosed; away != closed || told.String() != want {
					t.Errorf("told %q, want %q; callers were told that the store is away: %v", &told, want, away)
				}
			})
		})
	}
}

func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}
