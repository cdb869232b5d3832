// Package redistest starts real Redis servers for tests.
package redistest

import (
	"bytes"
	"context"
	"errors"
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
	return serve(t, func() []string { return nil })
}

// serve starts a server with further arguments, which are asked for at each attempt.
func serve(t testing.TB, further func() []string) *redis.Options {
	t.Helper()
	path, err := find()
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("skipped, needs a real Redis: %v", err)
	}
	var log string
	for range attempts {
		var options *redis.Options
		if options, log = start(t, path, further); options != nil {
			return options
		}
	}
	t.Fatalf("redis-server does not start:\n%s", log)
	return nil
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

// start runs one server and returns the options of a client, or nil and the server's log.
func start(t testing.TB, path string, further func() []string) (*redis.Options, string) {
	t.Helper()
	port := freePort(t)
	var log bytes.Buffer
	arguments := []string{"--bind", host, "--port", port, "--dir", t.TempDir(), "--save", "", "--appendonly", "no"}
	cmd := exec.Command(path, append(arguments, further()...)...)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // a server that is killed has no better news
	}()
	stop := func() {
		_ = cmd.Process.Kill() // it has nothing to save, and may have ended by itself
		<-ended
	}

	options := &redis.Options{Addr: net.JoinHostPort(host, port)}
	if answers(options, cmd.Process.Pid, ended) {
		t.Cleanup(stop)
		return options, ""
	}
	stop()
	return nil, log.String()
}

// answers waits until the server answers, and returns false when it has ended or takes too long. When another server
// took the port, it is that one which answers.
func answers(options *redis.Options, pid int, ended <-chan struct{}) bool {
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	for !strings.Contains(client.Info(ctx, "server").Val(), fmt.Sprintf("\r\nprocess_id:%d\r\n", pid)) {
		select {
		case <-ended:
			return false
		case <-ctx.Done():
			return false
		case <-poll.C:
		}
	}
	return true
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
