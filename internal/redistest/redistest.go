// Package redistest starts real Redis servers for tests.
package redistest

import (
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	host         = "127.0.0.1"
	startTimeout = 10 * time.Second // a server is up after some 30 ms; a busy machine may take its time
	oldest       = 7                // Redis 7 has clusters on any ports, and tells when a key expires
	attempts     = 3                // another process may take the free port between its choice and its use
)

// Client starts a server of its own for t, empty and without persistence, on a free loopback port, and returns a client
// of it. Both end with t.
//
// Without a redis-server in PATH, of Redis 7.0 or later, the test is skipped, or fails if the environment has CI=true.
func Client(t testing.TB) *redis.Client {
	t.Helper()
	client := redis.NewClient(Server(t))
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("closing the client: %v", err)
		}
	})
	return client
}

// Server is [Client] for tests that make their own clients: it returns the options of one. They are the test's to
// change.
func Server(t testing.TB) *redis.Options {
	t.Helper()
	return Start(t).Options()
}

// find returns the path of the redis-server.
func find() (string, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return "", errors.New("no redis-server in PATH: apt-get install redis-server, or make test does it")
	}
	version, err := exec.Command(path, "--version").Output()
	if err != nil {
		return "", err
	}
	for _, word := range strings.Fields(string(version)) {
		var major int
		if _, err := fmt.Sscanf(word, "v=%d.", &major); err == nil && major >= oldest {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is too old: want Redis %d.0 at least: %s", path, oldest, version)
}

// freePort returns a loopback port that was free a moment ago.
func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}
