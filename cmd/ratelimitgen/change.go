package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// change is what is to become of a generated file.
type change struct {
	path string
	old  []byte // nil if there is no file
	new  []byte // nil if there is to be none

	isOrphan bool // its source is gone, with the go:generate line that may have been there
}

// newChange compares the file at path with what it should hold: below what others have put above it, which stays.
func newChange(path string, source []byte) (change, error) {
	old, err := os.ReadFile(path) // not nil if there is a file
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return change{}, err
	}
	if source != nil {
		source = slices.Concat(parse.Above(old), source)
	}
	return change{path: path, old: old, new: source}, nil
}

func (c change) isNone() bool {
	return (c.old == nil) == (c.new == nil) && bytes.Equal(c.old, c.new)
}

// what says how the file differs from what it should be, and what to do.
func (c change) what() string {
	switch {
	case c.old == nil:
		return "missing: run go generate"
	case c.isOrphan:
		return "superfluous: its source is gone, delete it"
	case c.new == nil:
		return "superfluous: run go generate"
	}
	return "stale: run go generate"
}

// diff returns the change in the unified format.
func (c change) diff(path string) []byte {
	return diff.Diff(path, c.old, path+" (generated)", c.new)
}

// apply makes the change. The file is replaced in one step, so that nobody reads half of it. A link to it stays what it is.
func (c change) apply() error {
	if c.new == nil {
		return os.Remove(c.path)
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o777); err != nil { // that of -into may be a new one
		return err
	}
	path, err := linked(c.path)
	if err != nil {
		return err
	}
	// Not a .go file, since the go command may be reading the directory.
	temp := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d.tmp", filepath.Base(path), os.Getpid()))
	err = os.WriteFile(temp, c.new, 0o666)
	if info, statErr := os.Stat(path); err == nil && statErr == nil {
		err = os.Chmod(temp, info.Mode().Perm())
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp) // the first error is the one to tell
	}
	return err
}

// linked returns the path of the file that a symbolic link points to, or the path itself if it is of none.
func linked(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path, nil //nolint:nilerr // there is no file yet
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("%s is a symbolic link to nothing: want one to a file, or none: %w", path, err)
	}
	return target, nil
}
