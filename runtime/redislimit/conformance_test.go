package redislimit_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	"github.com/ratelimitgen/ratelimitgen/runtime/ratelimittest"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

func TestConformanceOnMiniredis(t *testing.T) {
	if raced {
		t.Skip("takes long under the race detector, which sees the same on a real server")
	}
	t.Parallel()
	server := newMini(t)
	ratelimittest.Run(t, func(t *testing.T, test ratelimittest.Test) {
		server.empty()
		test(t, &watched{Store: redislimit.NewPatient(server.client, notRemembering), t: t, server: server}, server.advance)
	})
}

func TestConformanceOnRedis(t *testing.T) {
	t.Parallel()
	client := redistest.Client(t)
	ratelimittest.Run(t, onClock(client))
}

// R37
func TestClockSetBackOnMiniredis(t *testing.T) {
	if raced {
		t.Skip("takes long under the race detector, which sees the same on a real server")
	}
	t.Parallel()
	ratelimittest.RunSetBack(t, onClock(newMini(t).client))
}

// R37
func TestClockSetBackOnRedis(t *testing.T) {
	t.Parallel()
	ratelimittest.RunSetBack(t, onClock(redistest.Client(t)))
}

func onClock(client redis.UniversalClient) func(*testing.T, ratelimittest.Test) {
	return func(t *testing.T, test ratelimittest.Test) {
		store, advance := clocked(t, client)
		test(t, store, advance)
	}
}
