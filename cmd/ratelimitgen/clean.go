package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// clean plans to remove the generated files whose source is gone, or was looked at and has no annotated interface. One
// whose source is only left out of this build stays, and so does one of which nobody can tell.
func (p *plan) clean() error {
	outputs := map[string]*parse.Package{} // by directory
	for _, pkg := range p.pkgs {
		outputs[pkg.OutputDir()] = pkg
	}
	for dir, pkg := range outputs {
		entries, err := os.ReadDir(dir)
		if err != nil && !isGone(dir) {
			return err
		}
		for _, entry := range entries {
			path := filepath.Join(dir, entry.Name())
			name, ok := parse.SourcePath(entry.Name())
			if _, planned := p.changes[path]; !ok || planned || isDir(path) {
				continue
			}
			c, err := newChange(path, nil)
			if err != nil {
				return err
			}
			if from, ok := pkg.SourceDir(c.old); ok && parse.IsOutput(path, c.old) && p.isStale(dir, from, name) {
				c.isOrphan = isGone(filepath.Join(from, name))
				p.changes[path] = c
			}
		}
	}
	return nil
}

// isStale reports whether a generated file in a directory is to be removed, with the decorators of the source file of that
// name in the same directory or another one.
func (p *plan) isStale(dir, from, name string) bool {
	source := filepath.Join(from, name)
	unannotated, broken, looked := false, false, false
	for _, pkg := range p.pkgs {
		unannotated = unannotated || !p.broken[pkg] && slices.Contains(pkg.Unannotated, source)
		looked = looked || pkg.Dir == from
		broken = broken || pkg.Dir == from && p.broken[pkg]
	}
	switch {
	case from != dir && !p.listed.HasTarget(): // for whoever generates into that package
		return false
	case from == dir && !looked:
		return false
	}
	return unannotated || !broken && isGone(source)
}

func isGone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
