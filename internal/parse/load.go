package parse

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
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
}

// Load returns the packages matched by patterns that have annotated interfaces, sorted by path, tests included: a
// package with its in-package tests is one Package, its external test package another. No pattern means the package in
// the current directory.
//
// Mistakes in the source are returned as [Diagnostics], together with the packages, see [Package.Mistaken]; any other
// error means that there was nothing to look at. Packages must parse, but of their types only the signatures of annotated
// interfaces need be right.
// The syntax that comes back has no function bodies.
func Load(cfg Config, patterns ...string) ([]*Package, error) {
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	roots, err := list(cfg, patterns)
	if err != nil {
		return nil, err
	}
	src := newSource(cfg)
	roots = slices.DeleteFunc(roots, func(p *packages.Package) bool { return !src.isWanted(p) })
	src.checkAll(roots)
	var (
		pkgs  []*Package
		diags Diagnostics
	)
	for _, root := range roots {
		pkg, mistakes := src.load(root)
		diags = append(diags, mistakes...)
		if len(pkg.Files) > 0 {
			pkg.Mistaken = len(mistakes) > 0
			pkgs = append(pkgs, pkg)
		}
	}
	if len(diags) > 0 {
		diags.Sort()
		return pkgs, diags
	}
	return pkgs, nil
}

// listMode asks the go command for the names of files and the graph of imports, and for nothing that it would have to
// compile.
const listMode = packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps |
	packages.NeedModule | packages.NeedForTest

// list asks the go command for the packages that match the patterns, each in the variant that has its in-package tests.
func list(cfg Config, patterns []string) ([]*packages.Package, error) {
	conf := &packages.Config{Mode: listMode, Dir: cfg.Dir, Env: cfg.Env, Tests: true}
	if cfg.Tags != "" {
		conf.BuildFlags = []string{"-tags=" + cfg.Tags}
	}
	listed, err := packages.Load(conf, patterns...)
	if err != nil {
		// The go command's own words are behind those of the package that ran it.
		if _, words, ok := strings.Cut(err.Error(), "stderr: "); ok {
			err = errors.New(strings.TrimSpace(words))
		}
		return nil, err
	}
	if err := missing(cfg, patterns, listed); err != nil {
		return nil, err
	}
	tested := make(map[string]bool)
	for _, p := range listed {
		if p.ForTest == p.PkgPath {
			tested[p.PkgPath] = true
		}
	}
	var roots []*packages.Package
	for _, p := range listed {
		switch {
		case len(p.GoFiles) == 0, strings.HasSuffix(p.ID, ".test"): // nothing to read, or the go command's own main
		case p.ForTest == "" && tested[p.PkgPath]: // read with its tests
		case p.ForTest != "" && p.PkgPath != p.ForTest && p.PkgPath != p.ForTest+"_test": // recompiled for another's tests
		default:
			roots = append(roots, p)
		}
	}
	slices.SortFunc(roots, func(a, b *packages.Package) int { return cmp.Compare(a.PkgPath, b.PkgPath) })
	return roots, nil
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

// matcher returns a function that reports whether a package can be what the pattern asked for. Only patterns with "..."
// match nothing without an error from the go command; it has a warning for them, which go/packages does not pass on.
func matcher(dir, pattern string) func(*packages.Package) bool {
	start, _, wild := strings.Cut(pattern, "...")
	if !wild {
		return func(*packages.Package) bool { return true }
	}
	if !strings.HasPrefix(pattern, ".") && !filepath.IsAbs(pattern) {
		start = strings.TrimSuffix(start, "/")
		return func(p *packages.Package) bool { return strings.HasPrefix(p.PkgPath, start) }
	}
	if !filepath.IsAbs(start) {
		start = filepath.Join(dir, start)
	}
	start = realPath(start)
	return func(p *packages.Package) bool { return strings.HasPrefix(realPath(p.Dir), start) }
}

// realPath returns the absolute path of a file or folder without symbolic links, as far as it exists.
func realPath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path
}

// load returns the annotated interfaces of a package and every mistake in it.
func (s *source) load(root *packages.Package) (*Package, Diagnostics) {
	r := &resolver{source: s, checked: s.check(root), seen: make(map[*sourceFile]bool)}
	pkg := &Package{
		Fset:   s.fset,
		Types:  r.checked.types,
		Dir:    root.Dir,
		Module: moduleOf(root),
		Names:  make(map[string]token.Pos),
	}
	for _, file := range r.checked.files {
		r.syntax(file)
		declared(file.syntax, pkg.Names)
	}
	if len(r.diags) > 0 { // types would only repeat what does not parse
		for _, file := range r.checked.files {
			if file.parseErr == nil {
				r.reached(file)
			}
		}
		return pkg, r.diags
	}
	for _, file := range r.checked.files {
		if f := r.resolve(pkg, file); f != nil {
			pkg.Files = append(pkg.Files, f)
		}
	}
	slices.SortFunc(pkg.Files, func(a, b *File) int { return cmp.Compare(a.Path, b.Path) })
	return pkg, r.diags
}

// declared adds the names that a file declares at package level to names.
func declared(file *ast.File, names map[string]token.Pos) {
	add := func(ident *ast.Ident) {
		if _, ok := names[ident.Name]; !ok && ident.Name != "_" {
			names[ident.Name] = ident.Pos()
		}
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil && decl.Name.Name != "init" {
				add(decl.Name)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						add(name)
					}
				}
			}
		}
	}
}
