package redislimit_test

import (
	"context"
	"crypto/tls"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// A client that speaks TLS and a server that does not wait for each other; the other way round the server hangs up. Neither
// says why.
func TestCheckWhereOneSideSpeaksTLS(t *testing.T) {
	plain, secured := redistest.Server(t).Addr, redistest.TLS(t).Addr
	config := &tls.Config{ServerName: "localhost", MinVersion: tls.VersionTLS13}
	const unanswered = "context deadline exceeded: no connection by TLS: does the server take it at this port?"
	const hangsUp = "EOF: the server hangs up: does it take nothing but TLS at this port?"
	tests := []struct {
		name   string
		client redis.UniversalClient
		within time.Duration
		kind   redislimit.Kind
		want   string
	}{
		{
			"a client with TLS", redis.NewClient(&redis.Options{Addr: plain, TLSConfig: config}), 300 * time.Millisecond,
			redislimit.KindTimeout, plain + ": " + unanswered,
		},
		{
			"a client of a Cluster with TLS", redis.NewClusterClient(&redis.ClusterOptions{
				Addrs: []string{plain}, TLSConfig: config, DialTimeout: 100 * time.Millisecond, // its end waits for that
			}), 300 * time.Millisecond, redislimit.KindTimeout, unanswered,
		},
		{
			"a server with TLS", redis.NewClient(&redis.Options{Addr: secured}), time.Minute,
			redislimit.KindConnection, secured + ": " + hangsUp,
		},
		{
			"a Cluster with TLS", redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{secured}}), time.Minute,
			redislimit.KindConnection, hangsUp,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			defer func() { _ = test.client.Close() }()
			ctx, cancel := context.WithTimeout(t.Context(), test.within)
			defer cancel()
			checkError(t, redislimit.New(test.client).Check(ctx), test.kind, `redislimit: check "rl:*": `+test.want)
		})
	}
}
