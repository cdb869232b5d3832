package redistest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Instance is a server of a test's own that the test can do harm to. Its methods are for one goroutine at a time.
type Instance struct {
	t         testing.TB
	path      string
	port      string
	arguments []string

	process *os.Process
	ended   chan struct{} // closed when the process has
	log     string        // the path of what it says
}

// Start starts a server as [Server] does.
func Start(t testing.TB) *Instance {
	t.Helper()
	return launch(t, func() []string { return nil })
}

// launch starts a server with further arguments, which are asked for at each attempt, after the files that it is
// configured by.
func launch(t testing.TB, further func() []string, files ...string) *Instance {
	t.Helper()
	path, _, err := find()
	if err != nil {
		if os.Getenv("CI") == "true" || os.Getenv(serverVariable) != "" {
			t.Fatal(err)
		}
		t.Skipf("skipped, needs a real Redis: %v", err)
	}
	i := &Instance{t: t, path: path, log: filepath.Join(t.TempDir(), "log")}
	for range attempts {
		i.port = freePort(t)
		i.arguments = slices.Concat(files, []string{"--bind", host, "--port", i.port, "--dir", t.TempDir(), "--save", "", "--appendonly", "no"}, further())
		if i.start() {
			t.Cleanup(i.Kill)
			return i
		}
	}
	t.Fatalf("redis-server does not start:\n%s", i.said())
	return nil
}

// Addr returns where the server listens, also when it was restarted.
func (i *Instance) Addr() string { return net.JoinHostPort(host, i.port) }

// Options returns the options of a client. They are the test's to change.
func (i *Instance) Options() *redis.Options { return &redis.Options{Addr: i.Addr()} }

// Kill ends the server as kill -9 does: its connections break, and new ones are refused. It does nothing if the server
// has ended.
func (i *Instance) Kill() {
	_ = i.process.Kill() // it may have ended by itself
	<-i.ended
}

// Restart starts a server that was killed again, on the same port, with further arguments. It is empty, unless it has been
// told to save what it had.
func (i *Instance) Restart(further ...string) {
	i.t.Helper()
	deadline := time.Now().Add(startTimeout)
	for !i.start(further...) { // a connection of another process may have the port for a moment
		if time.Now().After(deadline) {
			i.t.Fatalf("redis-server does not start again:\n%s", i.said())
		}
	}
}

// start runs the server and reports whether it answers. If not, it has ended, and the log says why.
func (i *Instance) start(further ...string) bool {
	i.t.Helper()
	log, err := os.Create(i.log)
	if err != nil {
		i.t.Fatal(err)
	}
	defer func() { _ = log.Close() }() // the process has its own
	cmd := exec.Command(i.path, slices.Concat(i.arguments, further)...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		i.t.Fatal(err)
	}
	i.process, i.ended = cmd.Process, make(chan struct{})
	go wait(cmd, i.ended)
	if i.answers() {
		return true
	}
	i.Kill()
	return false
}

func wait(cmd *exec.Cmd, ended chan<- struct{}) {
	defer close(ended)
	_ = cmd.Wait() // a server that is killed has no better news
}

// said returns what the server said since it was last started.
func (i *Instance) said() string {
	text, err := os.ReadFile(i.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// answers waits until the server answers, and returns false when it has ended or takes too long. When another server
// took the port, it is that one which answers.
func (i *Instance) answers() bool {
	client := redis.NewClient(i.Options())
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	for !strings.Contains(client.Info(ctx, "server").Val(), fmt.Sprintf("\r\nprocess_id:%d\r\n", i.process.Pid)) {
		select {
		case <-i.ended:
			return false
		case <-ctx.Done():
			return false
		case <-poll.C:
		}
	}
	return true
}
