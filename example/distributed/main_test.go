package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
)

// The program starts itself again as a process of the service.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serviceCommand {
		main()
		return
	}
	os.Exit(m.Run())
}

var short = plan{nodeTimeout: time.Second, before: time.Second, after: time.Second}

func TestLimitsHoldWhileAPrimaryIsKilled(t *testing.T) {
	redistest.Server(t) // skips the test where there is none
	t.Setenv("TMPDIR", t.TempDir())
	// A write to a server that was killed may raise SIGPIPE in any process.
	out := &watched{text: "Each user now calls"}
	out.seen = sync.OnceFunc(func() { signalServices(t, out.String(), syscall.SIGPIPE) })
	err := run(t.Context(), out, short)
	t.Logf("\n%s", out.String())
	if err != nil {
		t.Error(err)
	}
	for _, pattern := range []string{
		`(?m)^ +[\d.]+ s    killed 127\.0\.0\.1:\d+, which kept the buckets of user-1 `,
		`(?m)^ +[\d.]+ s    process A decides by itself about user-\d+$`,
		`(?m)^ +[\d.]+ s    127\.0\.0\.1:\d+ has taken over from 127\.0\.0\.1:\d+$`,
		`(?m)^ +[\d.]+ s    process C has Redis decide about user-\d+ again$`,
		`(?m)^kept    user-1: admitted \d+ of at most \d+ = 12 \+ 12/s × [\d.]+ s \+ 12 of the new primary \+ A: 4 \+ 4/s × [\d.]+ s \+ B: `,
		`(?m)^kept    \d+ users whose primaries lived: user-\d+, closest to its limit, admitted \d+ of at most \d+ = `,
		`(?m)^kept    every call got a decision: of \d+, 0 were undecided and 0 failed$`,
		`(?m)^kept    the processes decided by themselves from \d+`,
	} {
		if !regexp.MustCompile(pattern).MatchString(out.String()) {
			t.Errorf("no line matches %s", pattern)
		}
	}
	leavesNothing(t, out.String())
}

func TestInterruptedRunLeavesNothing(t *testing.T) {
	redistest.Server(t) // skips the test where there is none
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	out := &watched{text: "process C", seen: func() { cancel(interrupted) }}
	if err := run(ctx, out, short); !errors.Is(err, interrupted) {
		t.Errorf("run returns %v, want %v", err, interrupted)
	}
	leavesNothing(t, out.String())
}

func TestUnreadOutputEndsTheRun(t *testing.T) {
	redistest.Server(t) // skips the test where there is none
	t.Setenv("TMPDIR", t.TempDir())
	in, out := io.Pipe()
	go func() {
		lines := bufio.NewScanner(in)
		for lines.Scan() && !strings.Contains(lines.Text(), "process C") {
		}
		_ = in.Close()
	}()
	ctx, end := context.WithCancelCause(t.Context())
	var told strings.Builder
	if err := run(ctx, heard{io.MultiWriter(&told, out), end}, short); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("run returns %v, want %v", err, io.ErrClosedPipe)
	}
	leavesNothing(t, told.String())
}

func TestPanicOfAGoroutineEndsTheRun(t *testing.T) {
	ctx, end := context.WithCancelCause(t.Context())
	c := &crew{end: end}
	c.Go(func() { panic("oops") })
	c.Wait()
	if got := context.Cause(ctx); got == nil || !strings.HasPrefix(got.Error(), "panic: oops\n") {
		t.Errorf("the cause is %v, want the panic", got)
	}
}

func TestMissingRedisSaysHowToInstallIt(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	const want = `exec: "redis-server": executable file not found in $PATH: install Redis 7.0 or later ` +
		`(Debian, Ubuntu: apt-get install redis-server; macOS: brew install redis)`
	if err := run(t.Context(), io.Discard, short); err == nil || err.Error() != want {
		t.Errorf("run returns %v, want %s", err, want)
	}
}

// signalServices sends a signal to the processes of the service that the output names.
func signalServices(t *testing.T, out string, s os.Signal) {
	t.Helper()
	for _, p := range processesIn(t, out, `  [ABC]  pid (\d+)  `) {
		if err := p.Signal(s); err != nil {
			t.Error(err)
		}
	}
}

// processesIn returns the processes that the output names in lines of a pattern.
func processesIn(t *testing.T, out, pattern string) []*os.Process {
	t.Helper()
	var named []*os.Process
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(out, -1) {
		pid, err := strconv.Atoi(match[1])
		if err != nil {
			t.Fatal(err)
		}
		p, err := os.FindProcess(pid)
		if err != nil {
			t.Fatal(err)
		}
		named = append(named, p)
	}
	return named
}

// leavesNothing checks that the processes that the output names have ended, and that no file is left.
func leavesNothing(t *testing.T, out string) {
	t.Helper()
	named := processesIn(t, out, `  pid (\d+)  `)
	if want := primaries + processes; len(named) != want {
		t.Errorf("the output names %d processes, want %d", len(named), want)
	}
	for _, p := range named {
		if p.Signal(syscall.Signal(0)) == nil {
			t.Errorf("process %d lives on", p.Pid)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "distributed-*")); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}

// watched is a writer that calls seen once it has been told a text.
type watched struct {
	strings.Builder
	text string
	seen func()
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.Builder.Write(p)
	if strings.Contains(w.String(), w.text) {
		w.seen()
	}
	return n, err
}
