package parse

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/tools/go/packages"
)

// into is the package that [Config.Into] names, as the go command has it.
type into struct {
	dir     string              // absolute
	present []*packages.Package // its variants; none if there are no Go files yet
	root    *packages.Package   // the one that has its in-package tests, made up if there is none

	graph   map[string]*packages.Package // all packages, without their tests, by path
	sources map[string]bool              // paths of the packages whose decorators go into it
	files   map[string]bool              // names of their files
}

func newInto(cfg Config) (*into, error) {
	if cfg.Into == "" {
		return nil, nil //nolint:nilnil // not asked for
	}
	dir := cfg.Into
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(cfg.Dir, dir)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return &into{dir: dir, sources: make(map[string]bool), files: make(map[string]bool)}, nil
}

// patterns are what to ask the go command for besides the user's patterns. About a directory without Go files it would know
// nothing.
func (in *into) patterns() []string {
	if in == nil {
		return nil
	}
	if len(goFilesIn(in.dir)) > 0 {
		return []string{in.dir}
	}
	return nil
}

// split finds the variants of the package among those that were listed, and returns what the user's patterns match.
func (in *into) split(cfg Config, patterns []string, all []*packages.Package) []*packages.Package {
	if in == nil {
		return all
	}
	dir := realPath(in.dir)
	var listed []*packages.Package
	for _, p := range all {
		isPresent := p.Dir != "" && realPath(p.Dir) == dir
		if isPresent {
			in.present = append(in.present, p)
			in.dir = p.Dir // as positions have it
		}
		if !isPresent || slices.ContainsFunc(patterns, func(pattern string) bool { return isAskedFor(cfg.Dir, pattern, p) }) {
			listed = append(listed, p)
		}
	}
	return listed
}

// isAskedFor reports whether a pattern means a package that is there.
func isAskedFor(dir, pattern string, p *packages.Package) bool {
	switch {
	case strings.Contains(pattern, "..."):
		return matcher(dir, pattern)(p) && !isOutOfBuild(p, goFilesIn(p.Dir))
	case pattern == "all" || pattern == "work":
		return true
	case filepath.IsAbs(pattern):
		return realPath(pattern) == realPath(p.Dir)
	case pattern == "." || pattern == ".." || strings.HasPrefix(pattern, "./") || strings.HasPrefix(pattern, "../"):
		return realPath(filepath.Join(dir, pattern)) == realPath(p.Dir)
	}
	return pattern == p.PkgPath
}

// know notes the packages that were listed, and all that they import.
func (in *into) know(all []*packages.Package) {
	in.graph = make(map[string]*packages.Package)
	packages.Visit(all, nil, func(p *packages.Package) {
		if p.ID == p.PkgPath {
			in.graph[p.PkgPath] = p
		}
	})
}

// locate finds out what the package is, or will be, to the go command.
func (in *into) locate(cfg Config, l *listing) error {
	for _, p := range in.present {
		if p.ForTest == p.PkgPath || in.root == nil && p.ForTest == "" && !strings.HasSuffix(p.ID, ".test") {
			in.root = p
		}
	}
	switch {
	case in.root != nil && isOurs(in.root):
		return in.importable(cfg)
	case in.root != nil && len(in.root.GoFiles) > 0:
		return in.isForeign(cfg)
	}
	module, err := in.module(cfg, l)
	if err != nil {
		return err
	}
	main := mainModule{dir: realPath(module.Dir), path: module.Path}
	root := &packages.Package{PkgPath: main.pathOf(realPath(in.dir)), Dir: in.dir, Module: module}
	if in.root != nil {
		root.Name = in.root.Name
	}
	in.root = root
	return in.importable(cfg)
}

// importable returns an error if no package can import the one in the directory, be it there or not.
func (in *into) importable(cfg Config) error {
	importPath := in.root.PkgPath
	reason := module.CheckImportPath(importPath)
	var invalid *module.InvalidPathError
	if errors.As(reason, &invalid) {
		reason = invalid.Err // without the path, which is said already
	}
	if reason == nil && slices.Contains(strings.Split(importPath, "/"), "vendor") {
		reason = errors.New("packages in vendor are those of other modules")
	}
	if reason != nil {
		return fmt.Errorf("%s: no package can import %s: %w: want another directory", cfg.Into, importPath, reason)
	}
	return nil
}

// module returns the main module that the directory is of.
func (in *into) module(cfg Config, l *listing) (*packages.Module, error) {
	root := rootAbove(realPath(in.dir))
	if root == "" {
		return nil, in.isForeign(cfg)
	}
	if module := l.moduleAt(root); module != nil {
		return module, nil
	}
	if err := l.addMainModules(cfg); err != nil { // it may be another one of the workspace
		return nil, err
	}
	if module := l.moduleAt(root); module != nil {
		return module, nil
	}
	return nil, in.isForeign(cfg)
}

func (in *into) isForeign(cfg Config) error {
	return fmt.Errorf("%s is not in the main module: want a directory where its packages can be imported", cfg.Into)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
