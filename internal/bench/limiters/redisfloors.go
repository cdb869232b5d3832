package limiters

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
)

// Ping asks Redis for nothing, by go-redis.
func Ping(t testing.TB, s Setting) Limiter {
	client := newClient(t, s)
	return Ask(func(ctx context.Context, _ int) (bool, error) {
		err := client.Ping(ctx).Err()
		return err == nil, err
	})
}

// EmptyScript asks Redis to run a script that does nothing, by go-redis.
func EmptyScript(t testing.TB, s Setting) Limiter {
	client, script := newClient(t, s), redis.NewScript("return 1")
	return Ask(func(ctx context.Context, key int) (bool, error) {
		n, err := script.Run(ctx, client, []string{s.Keys.String(key)}).Int()
		return n == 1, err
	})
}
