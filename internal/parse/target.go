package parse

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

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

// targetName returns the name of the package: that which it has, to which [Config.Name] is held, or will have.
func (s *source) targetName(cfg Config, in *into) (string, error) {
	clause := s.targetClause(in)
	switch {
	case clause != nil:
		name := strings.TrimSuffix(clause.Name, "_test")
		if cfg.Name != "" && cfg.Name != name {
			var mistake Diagnostics
			mistake.add(s.fset, clause.Pos(), fmt.Sprintf("package %s: want -package %[1]s, or another -into", name))
			return "", mistake
		}
		return name, nil
	case cfg.Name != "":
		return cfg.Name, nil
	case in.root.Name != "":
		return in.root.Name, nil
	}
	return nameFor(in.root.PkgPath), nil
}

// targetClause returns the name in the first file of the package that is not about to be written, or nil: one of this build,
// or else one of another.
func (s *source) targetClause(in *into) *ast.Ident {
	var built []string
	for _, p := range in.present {
		built = append(built, p.GoFiles...)
	}
	for _, paths := range [][]string{built, s.listed.ignored[in.dir]} {
		for _, path := range slices.Sorted(slices.Values(paths)) {
			if filepath.Dir(path) != in.dir || s.read(in.root, path).generated { // the go command's own main of a test is elsewhere
				continue
			}
			if syntax := s.parse(in.root, path).syntax; syntax.Name.Name != "_" && constraintOf(path, syntax) != "ignore" {
				return syntax.Name
			}
		}
	}
	return nil
}

// nameFor returns a name for a package by its path: the last element, or the one before a major version, without what no
// identifier can have.
func nameFor(importPath string) string {
	base := path.Base(importPath)
	if number, ok := strings.CutPrefix(base, "v"); ok && path.Dir(importPath) != "." {
		if _, err := strconv.Atoi(number); err == nil {
			base = path.Base(path.Dir(importPath))
		}
	}
	base = strings.TrimPrefix(base, "go-")
	base, _, _ = strings.Cut(base, ".")
	name := strings.Map(func(r rune) rune {
		if token.IsIdentifier("_" + string(r)) {
			return r
		}
		return -1
	}, base)
	if !token.IsIdentifier(name) || name == "main" { // it is empty, a keyword, or begins with a digit, or means a command
		name = "pkg" + name
	}
	return name
}

// addIncoming adds what stands for decorators of other packages to files of the target: signatures of its own interfaces may
// name them, see withDecorators. The types are not known yet, so these have neither methods nor constraints.
func (s *source) addIncoming(files []*ast.File) {
	taken := make(map[string]token.Pos)
	for _, file := range files {
		declared(file, taken)
	}
	for _, root := range s.listed.roots {
		if root == s.listed.into.root || !s.isMarked(root) {
			continue
		}
		for _, path := range root.GoFiles {
			if s.read(root, path).generated {
				continue
			}
			for spec := range typeSpecs(s.parse(root, path).syntax) {
				name := DecoratorName(spec.Name.Name)
				if _, ok := taken[name]; !ok && mayBeInterface(spec.Type) {
					taken[name] = s.nowhere
					files[0].Decls = append(files[0].Decls, standIn(name, spec.TypeParams, s.nowhere))
				}
			}
		}
	}
}

// redirect makes the decorators of a package go into the target, and reports what must not be there for that: imports by
// which the package depends on the target.
func (s *source) redirect(root *packages.Package, pkg, target *Package) Diagnostics {
	in := s.listed.into
	if root.Dir == target.Dir { // its own external tests
		return nil
	}
	var mistakes Diagnostics
	if len(pkg.Files) > 0 {
		for _, f := range s.check(root).files {
			for _, spec := range f.syntax.Imports {
				path, there := pathOf(spec), in.root.PkgPath
				if !s.reachesTarget(path, make(map[string]bool)) {
					continue
				}
				how := "imports " + there
				if path != there {
					how = "imports " + path + ", which depends on " + there
				}
				mistakes.add(s.fset, spec.Path.Pos(), how+": no decorator of this package can go there, want another -into")
			}
		}
	}
	for _, f := range pkg.Files {
		f.target = target
		target.incoming = append(target.incoming, f)
	}
	return mistakes
}

// reachesTarget reports whether the package of a path is the target or imports it, however indirectly. Only packages of the
// user do. Their files say what they import: where there is a cycle already, an import is missing from the graph.
func (s *source) reachesTarget(importPath string, seen map[string]bool) bool {
	in := s.listed.into
	p := in.graph[importPath]
	switch {
	case importPath == in.root.PkgPath:
		return true
	case p == nil, !isOurs(p), seen[importPath]:
		return false
	}
	seen[importPath] = true
	for _, path := range p.GoFiles {
		if s.read(p, path).generated {
			continue
		}
		for _, spec := range s.parse(p, path).syntax.Imports {
			if s.reachesTarget(pathOf(spec), seen) {
				return true
			}
		}
	}
	return false
}
