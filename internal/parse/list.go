package parse

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// listMode asks the go command for the names of files and the graph of imports, and for nothing that it would have to
// compile.
const listMode = packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps |
	packages.NeedModule | packages.NeedForTest

// listing is what the go command says about the packages that match the patterns.
type listing struct {
	dir   string              // from which it names files, absolute
	roots []*packages.Package // those of the user, each in the variant that has its in-package tests
	into  *into               // nil if decorators go into the packages of their interfaces

	isPartial bool // packages that cannot matter are not among the roots

	modules map[string]*packages.Module // main ones, by path

	// What other packages import of the roots that have in-package tests, by path.
	imported map[string]*packages.Package

	// Of all variants in a directory: the go command has some of it for one variant only.
	errs    map[string][]packages.Error
	ignored map[string][]string // Go files that other builds have
}

// list asks the go command for the packages that match the patterns, or for those of them that can matter. If these are not
// all, the listing is partial.
func list(cfg Config, patterns []string) (*listing, error) {
	if fewer, named := sift(cfg, patterns); len(named) > 0 {
		if l, err := ask(cfg, patterns, fewer, named); err == nil {
			l.isPartial = true
			return l, nil
		} // the go command has better words if it sees the patterns of the user
	}
	return listAll(cfg, patterns)
}

// listAll asks the go command for all packages that match the patterns.
func listAll(cfg Config, patterns []string) (*listing, error) {
	return ask(cfg, patterns, patterns, nil)
}

// ask asks the go command for packages, instead of those that match the patterns. Some are named by their directories.
func ask(cfg Config, patterns, asked []string, named map[string]*folder) (*listing, error) {
	conf := &packages.Config{Mode: listMode, Dir: cfg.Dir, Env: cfg.Env, Tests: true}
	if cfg.Tags != "" {
		conf.BuildFlags = []string{"-tags=" + cfg.Tags}
	}
	into, err := newInto(cfg)
	if err != nil {
		return nil, err
	}
	all, err := packages.Load(conf, slices.Concat(asked, into.patterns())...)
	if err != nil {
		return nil, inOwnWords(err)
	}
	all = slices.DeleteFunc(all, func(p *packages.Package) bool {
		f := named[p.Dir]
		return f != nil && isOutOfBuild(p, f.files)
	})
	listed := into.split(cfg, patterns, all)
	if err := missing(cfg, patterns, listed); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, err
	}
	l := &listing{
		dir:      dir,
		into:     into,
		modules:  make(map[string]*packages.Module),
		imported: make(map[string]*packages.Package),
		errs:     make(map[string][]packages.Error),
		ignored:  make(map[string][]string),
	}
	tested := make(map[string]bool)
	for _, p := range all {
		l.errs[p.Dir] = append(l.errs[p.Dir], p.Errors...)
		for _, path := range p.IgnoredFiles {
			if filepath.Ext(path) == ".go" && !slices.Contains(l.ignored[p.Dir], path) {
				l.ignored[p.Dir] = append(l.ignored[p.Dir], path)
			}
		}
		if p.ForTest == p.PkgPath {
			tested[p.PkgPath] = true
		}
	}
	for _, p := range listed {
		switch {
		case !isOurs(p): // a pattern such as all matches dependencies, too
		case len(p.GoFiles) == 0, strings.HasSuffix(p.ID, ".test"): // nothing to read, or the go command's own main
		case p.ForTest == "" && tested[p.PkgPath]: // read with its tests
			l.imported[p.PkgPath] = p
		case p.ForTest != "" && p.PkgPath != p.ForTest && p.PkgPath != p.ForTest+"_test": // recompiled for another's tests
		default:
			l.roots = append(l.roots, p)
		}
	}
	if err := foreign(cfg, patterns, listed); err != nil {
		return nil, err
	}
	l.addModules(all)
	if into != nil {
		for _, root := range l.roots {
			into.sources[root.PkgPath] = true
			for _, path := range root.GoFiles {
				into.files[filepath.Base(path)] = true
			}
		}
		into.know(all)
		if err := into.locate(cfg, l); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(l.roots, func(a, b *packages.Package) int { return cmp.Compare(a.PkgPath, b.PkgPath) })
	return l, nil
}

// inOwnWords returns an error in the words of the go command, which are behind those of the package that ran it. In front of
// them there may be a position, or a dash in place of one. It has none if it could not be run.
func inOwnWords(err error) error {
	words := err.Error()
	if before, behind, ok := strings.Cut(words, ": stderr: "); ok && strings.TrimSpace(behind) != "" {
		words = behind
	} else if ok {
		words = strings.TrimPrefix(before, "err: ")
	}
	return errors.New(strings.TrimPrefix(strings.TrimSpace(words), "-: "))
}

// asImported returns the variant of a package that other packages import.
func (l *listing) asImported(p *packages.Package) *packages.Package {
	if imported := l.imported[p.PkgPath]; imported != nil {
		return imported
	}
	return p
}

func (l *listing) addModules(all []*packages.Package) {
	for _, p := range all {
		if p.Module != nil && p.Module.Main {
			l.modules[p.Module.Path] = p.Module
		}
	}
}

// addMainModules asks the go command for all main modules, be there packages in them or not.
func (l *listing) addMainModules(cfg Config) error {
	cmd := exec.CommandContext(context.Background(), "go", "list", "-m", "-f", "{{.Path}}\t{{.GoVersion}}\t{{.Dir}}")
	cmd.Dir, cmd.Env = cfg.Dir, cfg.Env
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return errors.New(string(bytes.TrimSpace(exit.Stderr)))
	} else if err != nil {
		return err
	}
	for line := range strings.Lines(string(out)) {
		if parts := strings.SplitN(strings.TrimSpace(line), "\t", 3); len(parts) == 3 {
			l.modules[parts[0]] = &packages.Module{Path: parts[0], GoVersion: parts[1], Dir: parts[2], Main: true}
		}
	}
	return nil
}

// moduleAt returns the main module that has its root in a directory, or nil.
func (l *listing) moduleAt(root string) *packages.Module {
	for _, module := range l.modules {
		if realPath(module.Dir) == root {
			return module
		}
	}
	return nil
}

// missing returns an error for the packages that the go command did not find, and for patterns without any.
func missing(cfg Config, patterns []string, listed []*packages.Package) error {
	var errs []error
	for _, p := range listed {
		if len(p.GoFiles) == 0 && len(p.Errors) > 0 {
			errs = append(errs, errors.New(p.Errors[0].Msg))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	for _, pattern := range patterns {
		if len(listed) == 0 || len(patterns) > 1 && !slices.ContainsFunc(listed, matcher(cfg.Dir, pattern)) {
			errs = append(errs, fmt.Errorf("%s: no packages", pattern))
		}
	}
	return errors.Join(errs...)
}

// foreign returns an error for the patterns that match packages, but none of the user's: a pattern with "..." has none of the
// user's below it, or is of the standard library, or all that matches is of other modules.
func foreign(cfg Config, patterns []string, listed []*packages.Package) error {
	var errs []error
	for _, pattern := range patterns {
		matched := slices.DeleteFunc(slices.Clone(listed), func(p *packages.Package) bool { return !isAskedFor(cfg.Dir, pattern, p) })
		if len(matched) > 0 && !slices.ContainsFunc(matched, isOurs) || !slices.ContainsFunc(listed, isOurs) {
			errs = append(errs, fmt.Errorf("%s: not in the main module: want a package of it", pattern))
		}
	}
	return errors.Join(errs...)
}

// matcher returns a function that reports whether a package can be what the pattern asked for. Only patterns with "..."
// match nothing without an error from the go command; it has a warning for them, which go/packages does not pass on.
func matcher(dir, pattern string) func(*packages.Package) bool {
	start, _, wild := strings.Cut(filepath.ToSlash(pattern), "...")
	if !wild {
		return func(*packages.Package) bool { return true }
	}
	isWhole := strings.HasSuffix(start, "/") // or else the last element goes on
	begins := func(path, start, separator string) bool {
		rest, ok := strings.CutPrefix(path, strings.TrimSuffix(start, separator))
		return ok && (!isWhole || rest == "" || strings.HasPrefix(rest, separator))
	}
	if !strings.HasPrefix(start, ".") && !filepath.IsAbs(start) {
		return func(p *packages.Package) bool { return begins(p.PkgPath, start, "/") }
	}
	if !filepath.IsAbs(start) {
		start = filepath.Join(dir, start)
	}
	start = realPath(start)
	return func(p *packages.Package) bool { return begins(realPath(p.Dir), start, string(filepath.Separator)) }
}

// realPath returns the absolute path of a file or folder without symbolic links, those above it included if it is not there.
func realPath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(realPath(parent), filepath.Base(path))
	}
	return path
}

// opening is how the go command's words about a file begin that it cannot read.
const opening = "open "

// position returns where an error of the go command is, of a package in dir. Its line is 0 if the error names a file only,
// and its file "" if it names none.
func (l *listing) position(dir string, err packages.Error) token.Position {
	if rest, column, ok := cutLast(err.Pos); ok {
		if path, line, ok := cutLast(rest); ok {
			if !filepath.IsAbs(path) {
				path = filepath.Join(l.dir, path)
			}
			return token.Position{Filename: path, Line: line, Column: column}
		}
	}
	// A file that it cannot read it names by its path.
	if words, ok := strings.CutPrefix(err.Msg, opening); ok {
		if path, _, ok := strings.Cut(words, ": "); ok && filepath.Ext(path) == ".go" {
			return token.Position{Filename: path}
		}
	}
	// About a file that it cannot place in the build, the go command only says "name.go: what is wrong".
	if name, _, ok := strings.Cut(err.Msg, ": "); ok && filepath.Base(name) == name && filepath.Ext(name) == ".go" {
		return token.Position{Filename: filepath.Join(dir, name)}
	}
	return token.Position{}
}

// cutLast splits text at its last colon, behind which there is a number.
func cutLast(text string) (rest string, number int, ok bool) {
	i := max(0, strings.LastIndexByte(text, ':'))
	number, err := strconv.Atoi(text[min(i+1, len(text)):])
	return text[:i], number, err == nil
}
