// Package redistest starts real Redis servers for tests.
package redistest

import (
	"cmp"
	"fmt"
	"net"
	"os"
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
	oldest       = 6                // Redis 6 has users with rights, and TLS
	attempts     = 3                // another process may take the free port between its choice and its use
	busOffset    = 10000
)

// serverVariable names the server that is to be started, if not the redis-server in PATH.
const serverVariable = "RATELIMIT_REDIS_SERVER"

// Client starts a server of its own for t, empty and without persistence, on a free loopback port, and returns a client
// of it. Both end with t.
//
// It is the redis-server in PATH: Redis 6.0 or later. Without one, the test is skipped, or fails if the environment has
// CI=true. With RATELIMIT_REDIS_SERVER in the environment it is the server of that path, be it Valkey or another one that
// takes Redis' options, or the test fails.
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

// Since skips a test on servers of before a major version of Redis, which lack what it takes.
func Since(t testing.TB, major int, what string) {
	t.Helper()
	if _, version, err := find(); err == nil && version < major {
		t.Skipf("skipped, needs Redis %d.0: %s", major, what)
	}
}

// find returns the path of the server and its major version, by which Valkey's, from 7 on, can do what Redis's can.
func find() (path string, major int, err error) {
	path, err = exec.LookPath(cmp.Or(os.Getenv(serverVariable), "redis-server"))
	if err != nil {
		return "", 0, fmt.Errorf("%w: apt-get install redis-server, or make test does it; %s may have another path", err, serverVariable)
	}
	version, err := exec.Command(path, "--version").Output()
	if err != nil {
		return "", 0, fmt.Errorf("%s --version: %w", path, err)
	}
	for _, word := range strings.Fields(string(version)) {
		if _, err := fmt.Sscanf(word, "v=%d.", &major); err == nil && major >= oldest {
			return path, major, nil
		}
	}
	return "", 0, fmt.Errorf("%s is too old: want Redis %d.0 at least: %s", path, oldest, version)
}

// freePort returns a loopback port that was free a moment ago. It is one that a node of a Cluster can have, which listens
// at another one for its peers: before Redis 7.0 nothing but its own plus busOffset.
func freePort(t testing.TB) string {
	t.Helper()
	for {
		l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		_ = l.Close()
		if port+busOffset < 1<<16 {
			return strconv.Itoa(port)
		}
	}
}
