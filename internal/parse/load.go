package parse

import (
	"bytes"
	"cmp"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Config says where and how packages are looked up. Its zero value is the current directory and environment.
type Config struct {
	Dir  string   // directory in which patterns are read; "" is the current one
	Tags string   // comma-separated build tags, as for the go command
	Env  []string // environment of the go command; nil is that of this process

	// Into is the directory of the package that all decorators go into, seen from Dir; "" is that of their interfaces. It
	// need not be there yet.
	Into string
	// Name is what that package is called; "" is what it is called already, or else what an import of it is expected to
	// be called.
	Name string
}

// Load returns the user's packages that the patterns match, those of a main module, sorted by path, tests included: a
// package with its in-package tests is one Package, its external test package another. Other packages that match are
// left out, and so may be those that have neither directives nor output. No pattern means the package in the current directory. The one that [Config.Into] names is among them only if
// a pattern matches it.
//
// Mistakes in the source are returned as [Diagnostics], together with the packages, see [Package.Mistaken]; any other
// error means that there was nothing to look at. Packages must parse, but of their types only the signatures of annotated
// interfaces need be right.
// The syntax that comes back has no function bodies.
func Load(cfg Config, patterns ...string) ([]*Package, error) {
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	listed, err := list(cfg, patterns)
	if err != nil {
		return nil, err
	}
	pkgs, err := load(cfg, listed)
	if listed.isPartial && listed.hasOrphans(pkgs) { // whether they are still needed may depend on every package
		if listed, err = listAll(cfg, patterns); err != nil {
			return nil, err
		}
		pkgs, err = load(cfg, listed)
	}
	return pkgs, err
}

// load returns the packages that are listed.
func load(cfg Config, listed *listing) ([]*Package, error) {
	src := newSource(token.NewFileSet(), types.SizesFor("gc", architecture(cfg.Env)), listed)
	var wanted []*packages.Package
	for _, root := range listed.roots {
		if src.isWanted(root) {
			wanted = append(wanted, root)
		}
	}
	src.checkAll(wanted)
	var (
		pkgs     []*Package
		target   *Package
		inTarget Diagnostics
		diags    Diagnostics
	)
	if listed.into != nil {
		var err error
		if target, inTarget, err = src.target(cfg, listed.into); err != nil {
			return nil, err
		}
	}
	for _, root := range listed.roots {
		if target != nil && root == listed.into.root {
			diags = append(diags, inTarget...)
			pkgs = append(pkgs, target)
			continue
		}
		pkg := &Package{Fset: src.fset, Dir: root.Dir, Module: moduleOf(root), listed: listed}
		mistakes := src.unplaced(root)
		if slices.Contains(wanted, root) {
			mistakes = append(mistakes, src.load(root, pkg)...)
		} else {
			src.unannotated(root, pkg, nil)
		}
		if target != nil {
			mistakes = append(mistakes, src.redirect(root, pkg, target)...)
		}
		pkg.Mistaken = len(mistakes) > 0
		diags = append(diags, mistakes...)
		pkgs = append(pkgs, pkg)
	}
	if len(diags) > 0 {
		diags.Sort()
		return pkgs, diags
	}
	return pkgs, nil
}

// load completes a package that may have annotated interfaces, and returns every mistake in it.
func (s *source) load(root *packages.Package, pkg *Package) Diagnostics {
	r := &resolver{source: s, checked: s.check(root), seen: make(map[*sourceFile]bool), unclear: make(map[*sourceFile]bool)}
	pkg.Types, pkg.checked, pkg.source = r.checked.types, r.checked, s
	illegible := false
	for _, file := range r.checked.files {
		r.syntax(file)
		illegible = illegible || file.parseErr != nil
	}
	if illegible { // types would only repeat what does not parse
		for _, file := range r.checked.files {
			r.reached(file)
		}
		return r.diags
	}
	s.name(root, pkg)
	for _, file := range r.checked.files {
		if f := r.resolve(pkg, file); f != nil {
			pkg.Files = append(pkg.Files, f)
			r.unclear[file] = true
		}
	}
	if s.embedsMarked(root) {
		for _, file := range s.illegible(root) {
			r.reached(file)
		}
	}
	slices.SortFunc(pkg.Files, func(a, b *File) int { return cmp.Compare(a.Path, b.Path) })
	s.unannotated(root, pkg, r.unclear)
	return r.diags
}

// unannotated lists the files of the package that have no annotated interface: those that are not among the others.
func (s *source) unannotated(root *packages.Package, pkg *Package, others map[*sourceFile]bool) {
	if s.isUnsure(root) {
		return
	}
	for _, path := range root.GoFiles {
		if f := s.read(root, path); !f.generated && !others[f] {
			pkg.Unannotated = append(pkg.Unannotated, path)
		}
	}
}

// unplaced reports the Go files that the go command cannot place in the build, in its own words. Nobody has read them, so
// they might have directives.
func (s *source) unplaced(root *packages.Package) Diagnostics {
	var diags Diagnostics
	for _, err := range s.listed.errs[root.Dir] {
		pos := s.listed.position(root.Dir, err)
		if pos.Line > 0 || pos.Filename == "" || slices.Contains(root.GoFiles, pos.Filename) || s.read(root, pos.Filename).generated {
			continue
		}
		src := s.read(root, pos.Filename).src
		before := src[:max(0, bytes.Index(src, []byte("//go:build")))]
		pos.Line, pos.Column = 1+bytes.Count(before, []byte("\n")), 1
		_, words, _ := strings.Cut(err.Msg, filepath.Base(pos.Filename)+": ")
		diags = append(diags, Diagnostic{Pos: pos, Message: words})
	}
	return diags
}
