package redislimit_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	"github.com/ratelimitgen/ratelimitgen/runtime/ratelimittest"
)

func TestOnCluster(t *testing.T) {
	client := redis.NewClusterClient(redistest.Cluster(t))
	defer func() { _ = client.Close() }()
	t.Run("conformance", func(t *testing.T) { ratelimittest.Run(t, onClock(client)) })
	t.Run("clock set back", func(t *testing.T) { ratelimittest.RunSetBack(t, onClock(client)) })
}
