package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// decorate generates the decorators and compiles them. What has failed is removed and the rest tried again, so that all
// failures are found.
func (w *workspace) decorate(ctx context.Context) error {
	command := filepath.Join(w.dir, "ratelimitgen.exe")
	steps := []struct {
		name string
		args []string
	}{
		{"generate", []string{command, "./decorated/..."}},
		{"check", []string{command, "check", "./decorated/..."}},
		{"compile decorators", []string{"go", "build", "./decorated/..."}},
		{"vet decorators", []string{"go", "vet", "./decorated/..."}},
	}
	if err := w.build(ctx, command); err != nil {
		return err
	}
	for _, step := range steps {
		for {
			failed := false
			err := w.time(step.name, func() (err error) {
				failed, err = w.attempt(ctx, step.args)
				return err
			})
			if err != nil {
				return err
			}
			if !failed {
				break
			}
		}
	}
	return nil
}

// build builds ratelimitgen.
func (w *workspace) build(ctx context.Context, path string) error {
	_, err := command(ctx, w.root, nil, "go", "build", "-o", path, "./cmd/ratelimitgen")
	return err
}

// attempt runs a command for what is left, notes which interfaces it complains about, and removes them. It reports
// whether there are any.
func (w *workspace) attempt(ctx context.Context, args []string) (failed bool, err error) {
	_, err = command(ctx, w.dir, w.env, args[0], args[1:]...)
	if err == nil {
		return false, nil
	}
	complaints, ok := stderrOf(err)
	if !ok {
		return false, err
	}
	for line := range strings.Lines(complaints) {
		path, message := place(line)
		if !filepath.IsAbs(path) {
			path = filepath.Join(w.dir, path)
		}
		if source, ok := parse.SourcePath(path); ok {
			path = source
		}
		s := w.files[path]
		if s == nil {
			continue
		}
		failed = true
		if s.failure == "" {
			s.failure = message
		}
		for _, path := range []string{path, parse.OutputPath(path)} {
			if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				return false, err
			}
		}
	}
	if !failed {
		return false, err
	}
	return true, nil
}

// aPlace is a position in a Go file, or its name, and what is wrong there.
var aPlace = regexp.MustCompile(`^(?:vet: )?(.+?\.go)(?::\d+)*: (.*)\n?$`)

// place returns the file that a line of output is about, and what it says.
func place(line string) (path, message string) {
	if parts := aPlace.FindStringSubmatch(line); parts != nil {
		return parts[1], parts[2]
	}
	return "", ""
}
