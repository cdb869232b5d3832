package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// runtimeModule is what the decorators import.
const runtimeModule = "github.com/ratelimitgen/ratelimitgen"

// workspace is a module in a temporary folder, which requires the modules to be swept and holds the interfaces that embed
// theirs.
type workspace struct {
	root  string // of the repository
	dir   string
	env   []string            // of commands in dir
	files map[string]*subject // by the path in which a subject is embedded
	times []duration
}

// duration is how long a step took.
type duration struct {
	step string
	took time.Duration
}

func newWorkspace(ctx context.Context) (*workspace, error) {
	goMod, err := command(ctx, ".", nil, "go", "env", "GOMOD")
	if err != nil {
		return nil, err
	}
	flags, err := command(ctx, ".", nil, "go", "env", "GOFLAGS")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "sweep")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // the go command prints such paths
		return nil, err
	}
	return &workspace{
		root: filepath.Dir(strings.TrimSpace(string(goMod))),
		dir:  dir,
		// Nobody has listed the checksums of all that the modules require.
		env:   append(os.Environ(), "GOFLAGS="+strings.TrimSpace(string(flags))+" -mod=mod"),
		files: map[string]*subject{},
	}, nil
}

// modules returns the chosen modules, all if none is, and makes the workspace require them.
func (w *workspace) modules(ctx context.Context, chosen []string) ([]*module, error) {
	source := filepath.Join(w.root, "internal", "sweep", "testdata", "modules")
	text, err := command(ctx, source, nil, "go", "mod", "edit", "-json")
	if err != nil {
		return nil, err
	}
	var goMod struct{ Require []*module }
	if err := json.Unmarshal(text, &goMod); err != nil {
		return nil, err
	}
	version, err := command(ctx, source, nil, "go", "env", "GOVERSION")
	if err != nil {
		return nil, err
	}
	all := append([]*module{{Path: "std", Version: strings.TrimSpace(string(version))}}, goMod.Require...)
	for _, path := range chosen {
		if !slices.ContainsFunc(all, func(m *module) bool { return m.Path == path }) {
			return nil, fmt.Errorf("%s is not a module of %s", path, source)
		}
	}
	if len(chosen) > 0 {
		all = slices.DeleteFunc(all, func(m *module) bool { return !slices.Contains(chosen, m.Path) })
	}
	if err := os.CopyFS(w.dir, os.DirFS(source)); err != nil {
		return nil, err
	}
	_, err = command(ctx, w.dir, w.env, "go", "mod", "edit", "-require="+runtimeModule+"@v0.0.0", "-replace="+runtimeModule+"="+w.root)
	return all, err
}

// time runs a step and notes how long it took.
func (w *workspace) time(step string, run func() error) error {
	start := time.Now()
	err := run()
	w.times = append(w.times, duration{step, time.Since(start)})
	return err
}

// command runs a command in a folder and returns what it prints to standard output; what it prints to standard error is
// part of the error. Its environment is that of this process if env is nil.
func command(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.Bytes(), &commandError{fmt.Errorf("%s %s: %w", filepath.Base(name), args[0], err), stderr.String()}
	}
	return stdout.Bytes(), nil
}

// commandError is a command that failed.
type commandError struct {
	error
	stderr string
}

func (e *commandError) Error() string { return e.error.Error() + "\n" + e.stderr }

func (e *commandError) Unwrap() error { return e.error }

// stderrOf returns what the command of an error has printed to standard error.
func stderrOf(err error) (string, bool) {
	failed, ok := errors.AsType[*commandError](err)
	if !ok {
		return "", false
	}
	return failed.stderr, true
}
