package redislimit

import (
	"errors"
	"fmt"
	"io"

	"github.com/redis/go-redis/v9"
)

// explained returns the cause of an error, and what it is likely to mean where its words do not tell.
func explained(client processor, e *Error) error {
	_, moved := redis.IsMovedError(e.Err)
	_, knows := client.(cluster)
	var why string
	switch {
	case moved, e.Kind == KindMisconfigured && !knows:
		why = "the server is one of a Cluster, which needs a redis.ClusterClient"
	case e.Kind == KindMisconfigured:
		why = "the server is not one of a Cluster, and needs a redis.Client"
	case e.Kind == KindTimeout && secure(client) && !connected(client):
		why = "no connection by TLS: does the server take it at this port?" // both wait for the other
	case errors.Is(e.Err, io.EOF) && !secure(client):
		why = "the server hangs up: does it take nothing but TLS at this port?"
	default:
		return e.Err
	}
	return fmt.Errorf("%w: %s", e.Err, why)
}

// secure reports whether a client speaks TLS.
func secure(client processor) bool {
	switch client := client.(type) {
	case interface{ Options() *redis.Options }:
		return client.Options().TLSConfig != nil
	case interface{ Options() *redis.ClusterOptions }:
		return client.Options().TLSConfig != nil
	}
	return false
}

// connected reports whether a client has a connection.
func connected(client processor) bool {
	pool, ok := client.(interface{ PoolStats() *redis.PoolStats })
	return ok && pool.PoolStats().TotalConns > 0
}
