package redistest_test

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
)

// ping returns what a server answers to a client of the options.
func ping(t *testing.T, options *redis.Options) error {
	t.Helper()
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	return client.Ping(t.Context()).Err()
}

func TestTLS(t *testing.T) {
	options := redistest.TLS(t)
	if err := ping(t, options); err != nil {
		t.Error(err)
	}
	plain := *options
	plain.TLSConfig, plain.MaxRetries = nil, -1
	if err := ping(t, &plain); err == nil {
		t.Error("the server answers without TLS")
	}
}

func TestUnix(t *testing.T) {
	options := redistest.Unix(t)
	if err := ping(t, options); err != nil || options.Network != "unix" {
		t.Errorf("%s: %v", options.Network, err)
	}
}

func TestUser(t *testing.T) {
	server := redistest.Server(t)
	if err := ping(t, redistest.User(t, server, "ann", "+ping")); err != nil {
		t.Error(err)
	}
	if err := ping(t, redistest.User(t, server, "ann", "+get")); err == nil || !strings.HasPrefix(err.Error(), "NOPERM") {
		t.Errorf("error %v: want NOPERM, of a user without the rights of before", err)
	}
}
