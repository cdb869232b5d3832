package redislimit

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// bounded returns a client by which a call may wait for a server in its own goroutine, as it does not wait for longer than
// the call may: go-redis's own, or one that shares its connections and has the timeouts of the call. It is nil if there is
// none, or if the caller has less time: a client that ends a wait closes the connection, and a server that is farther away
// than callers have time is not to be connected to anew for each of them. While such a call waits, it does not hear that
// its context is canceled.
//
// To hand a call over to another goroutine, and the answer back, takes 12 µs where there is no other call: each time the
// runtime wakes a thread.
func (s *sender) bounded(ctx context.Context) processor {
	client, ok := s.client.(*redis.Client)
	if !ok || s.timeout <= 0 {
		return nil
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < s.timeout {
		return nil
	}
	if client.Options().ContextTimeoutEnabled {
		return client
	}
	if client.PoolStats().IdleConns == 0 { // to connect takes several waits
		return nil
	}
	wait := s.timeout
	if shorter := client.Options().ReadTimeout; shorter > 0 {
		wait = min(wait, shorter)
	}
	own := client.WithTimeout(wait) // each time, as hooks may have been added
	if config := own.Options().MaintNotificationsConfig; config != nil && config.Mode != maintnotifications.ModeDisabled {
		return nil // go-redis waits longer while such a server is being maintained
	}
	return own
}
