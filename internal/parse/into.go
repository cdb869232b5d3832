package parse

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// into is the package that [Config.Into] names, as the go command has it.
type into struct {
	dir     string              // absolute
	present []*packages.Package // its variants; none if there are no Go files yet
	root    *packages.Package   // the one that has its in-package tests, made up if there is none

	sources map[string]bool // paths of the packages whose decorators go into it
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
	return &into{dir: dir, sources: make(map[string]bool)}, nil
}

// patterns are what to ask the go command for besides the user's patterns. About a directory without Go files it would know
// nothing.
func (in *into) patterns() []string {
	if in == nil {
		return nil
	}
	entries, _ := os.ReadDir(in.dir) // none if it is not there
	for _, entry := range entries {
		name := entry.Name()
		if filepath.Ext(name) == ".go" && !entry.IsDir() && !strings.HasPrefix(name, "_") && !strings.HasPrefix(name, ".") {
			return []string{in.dir}
		}
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
		return matcher(dir, pattern)(p)
	case pattern == "all" || pattern == "work":
		return true
	case filepath.IsAbs(pattern):
		return realPath(pattern) == realPath(p.Dir)
	case pattern == "." || pattern == ".." || strings.HasPrefix(pattern, "./") || strings.HasPrefix(pattern, "../"):
		return realPath(filepath.Join(dir, pattern)) == realPath(p.Dir)
	}
	return pattern == p.PkgPath
}

// locate finds out what the package is, or will be, to the go command.
func (in *into) locate(cfg Config, l *listing) error {
	if in == nil {
		return nil
	}
	for _, p := range in.present {
		if p.ForTest == p.PkgPath || in.root == nil && p.ForTest == "" && !strings.HasSuffix(p.ID, ".test") {
			in.root = p
		}
	}
	if in.root != nil && (isOurs(in.root) || len(in.root.GoFiles) > 0) {
		if !isOurs(in.root) {
			return in.isForeign(cfg)
		}
		return nil
	}
	module, err := in.module(cfg, l)
	if err != nil {
		return err
	}
	below, err := filepath.Rel(realPath(module.Dir), realPath(in.dir))
	if err != nil {
		return err
	}
	root := &packages.Package{PkgPath: path.Join(module.Path, filepath.ToSlash(below)), Dir: in.dir, Module: module}
	if in.root != nil {
		root.Name = in.root.Name
	}
	in.root = root
	return nil
}

// module returns the main module that the directory is of.
func (in *into) module(cfg Config, l *listing) (*packages.Module, error) {
	root := realPath(in.dir)
	for !exists(filepath.Join(root, "go.mod")) {
		parent := filepath.Dir(root)
		if parent == root {
			return nil, in.isForeign(cfg)
		}
		root = parent
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

// sourceDir returns the directory of the package whose decorators are in an output in a directory, and whether it is known. An
// origin is the path of another package, or "".
func (l *listing) sourceDir(dir, origin string) (string, bool) {
	if origin == "" {
		return dir, true
	}
	var module *packages.Module // the innermost
	for _, m := range l.modules {
		if (origin == m.Path || strings.HasPrefix(origin, m.Path+"/")) && (module == nil || len(m.Path) > len(module.Path)) {
			module = m
		}
	}
	if module == nil {
		return "", false
	}
	return filepath.Join(module.Dir, filepath.FromSlash(strings.TrimPrefix(origin, module.Path))), true
}

// keeps reports whether a generated file is not about to be written anew or removed, and so is read as any other one: that
// with the decorators of another package, if those are not generated now and their source is still there.
func (l *listing) keeps(path, origin string) bool {
	switch in := l.into; {
	case origin == "":
		return false
	case in == nil, filepath.Dir(path) != in.dir:
		return true
	case in.sources[origin]:
		return false
	default:
		dir, known := l.sourceDir(in.dir, origin)
		return !known || exists(filepath.Join(dir, strings.TrimSuffix(filepath.Base(path), "_ratelimit.go")+".go"))
	}
}

// OutputDir is the directory that the package's decorators go into.
func (p *Package) OutputDir() string {
	if p.listed.into != nil {
		return p.listed.into.dir
	}
	return p.Dir
}

// SourceDir returns the directory of the package whose decorators are in a generated file in [Package.OutputDir]. It reports
// false if the file is for a package of another module.
func (p *Package) SourceDir(content []byte) (string, bool) {
	return p.listed.sourceDir(p.OutputDir(), OriginOf(content))
}

// target returns the package that decorators go into, and the mistakes in it, which are those of a source. If nobody can
// tell what it declares, that is an error.
func (s *source) target(cfg Config, in *into) (pkg *Package, mistakes Diagnostics, err error) {
	name, err := s.targetName(cfg, in)
	if err != nil {
		return nil, nil, err
	}
	if c := s.check(in.root); c.types.Name() != name {
		c.types = types.NewPackage(in.root.PkgPath, name) // there is nothing but our own output
	}
	pkg = &Package{Fset: s.fset, Dir: in.dir, Module: moduleOf(in.root), listed: s.listed}
	mistakes = append(s.unplaced(in.root), s.load(in.root, pkg)...)
	pkg.Mistaken = len(mistakes) > 0
	if pkg.Names == nil {
		mistakes.Sort()
		return nil, nil, mistakes
	}
	return pkg, mistakes, nil
}

// targetName returns the name of the package, which all of its files must agree on.
func (s *source) targetName(cfg Config, in *into) (string, error) {
	name := cfg.Name
	paths := slices.Clone(s.listed.ignored[in.dir])
	for _, p := range in.present {
		paths = append(paths, p.GoFiles...)
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		if filepath.Dir(path) != in.dir || s.read(in.root, path).generated {
			continue // the go command's own main of a test is elsewhere
		}
		syntax := s.parse(in.root, path).syntax
		there := syntax.Name.Name
		if strings.HasSuffix(path, "_test.go") {
			there = strings.TrimSuffix(there, "_test")
		}
		switch {
		case there == "_" || constraintOf(path, syntax) == "ignore":
		case name == "":
			name = there
		case cfg.Name != "" && name != there:
			var mistake Diagnostics
			mistake.add(s.fset, syntax.Name.Pos(), fmt.Sprintf("package %s: want -package %[1]s, or another directory than %s", there, cfg.Into))
			return "", mistake
		}
	}
	if name == "" {
		name = in.root.Name
	}
	if name == "" {
		name = nameFor(in.root.PkgPath)
	}
	return name, nil
}

// nameFor returns a name for a package by its path: the last element, or the one before a major version, without what no
// identifier can have.
func nameFor(importPath string) string {
	base := path.Base(importPath)
	if version, ok := strings.CutPrefix(base, "v"); ok && strings.Trim(version, "0123456789") == "" && path.Dir(importPath) != "." {
		base = path.Base(path.Dir(importPath))
	}
	base = strings.TrimPrefix(base, "go-")
	base, _, _ = strings.Cut(base, ".")
	name := strings.Map(func(r rune) rune {
		if token.IsIdentifier("_" + string(r)) {
			return r
		}
		return -1
	}, base)
	if !token.IsIdentifier(name) { // it is empty, a keyword, or begins with a digit
		name = "pkg" + name
	}
	return name
}

// redirect makes the decorators of a package go into the target, and reports what must not be there for that: imports by
// which the package depends on the target.
func (s *source) redirect(root *packages.Package, pkg, target *Package) Diagnostics {
	if root.Dir == target.Dir { // its own external tests
		return nil
	}
	var mistakes Diagnostics
	if len(pkg.Files) > 0 {
		for _, f := range s.check(root).files {
			for _, spec := range f.syntax.Imports {
				how := "imports " + pathOf(spec)
				if pathOf(spec) != target.Types.Path() {
					if imported := root.Imports[pathOf(spec)]; imported == nil || !s.reachesTarget(imported, target.Types.Path(), make(map[string]bool)) {
						continue
					}
					how += ", which imports " + target.Types.Path()
				}
				mistakes.add(s.fset, spec.Path.Pos(), how+": the decorators of this package cannot go there, want another directory")
			}
		}
	}
	for _, f := range pkg.Files {
		f.target = target
		target.incoming = append(target.incoming, f)
	}
	return mistakes
}

// reachesTarget reports whether a package imports the target, however indirectly. Of the user's packages the files say so:
// where there is a cycle already, an import is missing from the graph.
func (s *source) reachesTarget(p *packages.Package, target string, seen map[string]bool) bool {
	if seen[p.PkgPath] {
		return false
	}
	seen[p.PkgPath] = true
	if isOurs(p) {
		for _, path := range p.GoFiles {
			if f := s.read(p, path); !f.generated && slices.ContainsFunc(s.parse(p, path).syntax.Imports, func(spec *ast.ImportSpec) bool {
				return pathOf(spec) == target
			}) {
				return true
			}
		}
	}
	for _, imported := range p.Imports {
		if imported.PkgPath == target || s.reachesTarget(imported, target, seen) {
			return true
		}
	}
	return false
}
