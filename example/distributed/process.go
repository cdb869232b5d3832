package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// process is one that this program has started.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

// start starts a process, that the caller must stop.
func start(cmd *exec.Cmd) (*process, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		_ = cmd.Wait() // how it ended is of no interest: it was told to
	}()
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// kill ends the process at once, as kill -9 does. It may have ended already.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// stop lets the process finish what it is at.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // where there is no such signal it is killed below
	select {
	case <-p.ended:
	case <-time.After(shutdownTimeout + time.Second):
		p.kill()
	}
}

// service is a process of the service, seen from the one that started it.
type service struct {
	*process
	name string
	url  string
}

func processName(i int) string { return "ABC"[i : i+1] }

// startServices starts the processes of the service. What they log goes to log, line by line, with the name of the
// process.
func startServices(ctx context.Context, cluster []string, log func(name, line string)) (services []*service, err error) {
	defer func() {
		if err != nil {
			stopServices(services)
		}
	}()
	for i := range processes {
		s, err := startService(ctx, processName(i), cluster, log)
		if err != nil {
			return services, err
		}
		services = append(services, s)
	}
	return services, nil
}

func startService(ctx context.Context, name string, cluster []string, log func(name, line string)) (*service, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	// Not bound to ctx, whose end would kill it: it is to finish what it is at.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), self, append([]string{serviceCommand}, cluster...)...)
	if _, err := cmd.StdinPipe(); err != nil { // see untilClosed
		return nil, err
	}
	addr := make(chan string, 1)
	cmd.Stdout = &lines{do: func(line string) { addr <- line }}
	cmd.Stderr = &lines{do: func(line string) { log(name, line) }}
	s := &service{name: name}
	if s.process, err = start(cmd); err != nil {
		return nil, err
	}
	select {
	case a := <-addr:
		s.url = "http://" + a
		return s, nil
	case <-s.ended:
		err = errors.New("it has ended")
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.kill()
	return nil, fmt.Errorf("process %s of the service: %w", name, err)
}

func stopServices(services []*service) {
	for _, s := range services {
		s.stop()
	}
}

// lines is a writer that hands on each line.
type lines struct {
	do   func(line string)
	rest []byte // of a line that has not ended
}

// Write implements [io.Writer].
func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, ended := bytes.Cut(l.rest, []byte("\n"))
		if !ended {
			return len(p), nil
		}
		l.do(string(line))
		l.rest = rest
	}
}
