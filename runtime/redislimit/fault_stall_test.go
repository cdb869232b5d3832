package redislimit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// A server that stalls for a moment, as while it forks, fails those who wait for it, and nobody after that: all of them are
// five in a row, but they have not lasted.
func TestServerStalls(t *testing.T) {
	const budget, stall, soon = 300 * time.Millisecond, 400 * time.Millisecond, 100 * time.Millisecond
	intime(t, func() error {
		server := redistest.Start(t)
		client := redis.NewClient(server.Options())
		defer func() { _ = client.Close() }()
		var outages transitions
		store := redislimit.New(client, redislimit.Timeout(budget), redislimit.OnOutage(outages.note))
		callers := underLoad(t, func(n int) error {
			return store.Take(t.Context(), fw(fmt.Sprint(n), 1), make([]ratelimit.Result, 1))
		})
		callers.answered(t, time.Now(), 10*loadCallers)
		began := time.Now()
		server.Freeze()
		time.Sleep(stall)
		server.Thaw()
		ended := time.Now()
		returned := callers.answered(t, ended, 10*loadCallers)
		calls := callers.end()
		kinds := onlyKinds(t, between(calls, began.Add(-budget), ended), redislimit.KindTimeout) // some were under way
		after := onlyKinds(t, between(calls, ended.Add(soon), time.Now()), redislimit.KindTimeout, redislimit.KindOutage)
		t.Logf("errors %v; %d calls are answered %v after the stall, errors after it %v", kinds, 10*loadCallers, returned, after)
		switch {
		case len(outages.told()) > 0:
			return fmt.Errorf("told %v of a server that stalled for %v: want nothing", outages.told(), stall)
		case len(after) > 0:
			return fmt.Errorf("errors %v after the stall: want none", after)
		}
		if kinds[redislimit.KindTimeout] < 5 {
			t.Errorf("errors %v: the test shows nothing", kinds)
		}
		return nil
	})
}
