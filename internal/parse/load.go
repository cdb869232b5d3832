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

// Listing is what the go command says about packages, from which they are loaded.
type Listing struct {
	cfg      Config
	patterns []string
	*listing
}

// List asks the go command for the packages that the patterns match. No pattern means the package in the current directory.
func List(cfg Config, patterns ...string) (*Listing, error) {
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	listed, err := list(cfg, patterns)
	return &Listing{cfg, patterns, listed}, err
}

// HasTarget reports whether all decorators go into one package, which [Config.Into] names.
func (l *Listing) HasTarget() bool { return l.into != nil }

// Load lists packages and loads them, see [Listing.Load].
func Load(cfg Config, patterns ...string) ([]*Package, error) {
	listed, err := List(cfg, patterns...)
	if err != nil {
		return nil, err
	}
	return listed.Load()
}

// Load returns the user's packages among those that are listed, those of a main module, sorted by path, tests included: a
// package with its in-package tests is one Package, its external test package another. Those that have neither directives nor
// output may be left out. The one that [Config.Into] names is among them only if a pattern matches it.
//
// Mistakes in the source are returned as [Diagnostics], together with the packages, see [Package.Mistaken]; any other
// error means that there was nothing to look at. Packages must parse, but of their types only the signatures of annotated
// interfaces need be right.
// The syntax that comes back has no function bodies.
func (l *Listing) Load() ([]*Package, error) { return l.loadWhole(false) }

func (l *Listing) loadWhole(withC bool) ([]*Package, error) {
	pkgs, err := l.load(l.newSource(withC))
	if extended, err := l.extend(pkgs); err != nil {
		return nil, err
	} else if extended {
		return l.loadWhole(withC)
	}
	return pkgs, err
}

// LoadSparse returns what [Listing.Load] does, in less time: what the user's packages depend on lacks what neither they need
// nor stubs, which are those of [Package.Verify]. What comes of it is the same unless it is a mistake, the words for which
// may depend on what else there is.
func (l *Listing) LoadSparse(stubs map[string]string) ([]*Package, error) {
	src := l.newSource(false)
	src.demand.thin(stubs)
	pkgs, err := l.load(src)
	if err != nil || src.isDoubtful() {
		return l.Load()
	}
	if extended, err := l.extend(pkgs); err != nil {
		return nil, err
	} else if extended {
		return l.LoadSparse(stubs)
	}
	for _, pkg := range pkgs {
		pkg.Sparse = true
	}
	return pkgs, nil
}

// LoadBetter returns packages anew of which some are mistaken and doubtful, see [Package.IsDoubtful]: loaded as [Listing.Load]
// does, or if they have been that already, with what cgo says of C. It loads all where decorators go into one package,
// which must know them all.
func (l *Listing) LoadBetter(pkgs []*Package, isMistaken func(*Package) bool) ([]*Package, error) {
	isDoubtful := func(pkg *Package) bool { return isMistaken(pkg) && pkg.Sparse }
	withC := !slices.ContainsFunc(pkgs, isDoubtful)
	if withC {
		isDoubtful = func(pkg *Package) bool { return isMistaken(pkg) && pkg.IsDoubtful() }
	}
	if l.HasTarget() {
		return l.loadWhole(withC)
	}
	some := *l.listing
	some.roots = nil
	var places []int
	for i, pkg := range pkgs { // one for each root
		if isDoubtful(pkg) {
			some.roots = append(some.roots, l.roots[i])
			places = append(places, i)
		}
	}
	part := &Listing{l.cfg, l.patterns, &some}
	loaded, err := part.load(part.newSource(withC))
	pkgs = slices.Clone(pkgs)
	for i, pkg := range loaded {
		pkgs[places[i]] = pkg
	}
	if extended, err := l.extend(pkgs); err != nil {
		return nil, err
	} else if extended {
		return l.loadWhole(withC)
	}
	return pkgs, err
}

// IsDoubtful reports whether mistakes in the package may be none, or want other words, once [Listing.LoadBetter] has loaded it:
// something is left out of what it depends on, or there are types of C that cgo has not been asked about.
func (p *Package) IsDoubtful() bool {
	return p.Sparse || p.checked != nil && p.source.askCgo == nil && p.source.dependsOnC(p.checked, make(map[*checkedPackage]bool))
}

// extend lists all packages that the patterns match if what is there does not tell whether output is still needed: that may
// depend on every package.
func (l *Listing) extend(pkgs []*Package) (bool, error) {
	if !l.isPartial || !l.hasOrphans(pkgs) {
		return false, nil
	}
	all, err := listAll(l.cfg, l.patterns)
	if err != nil {
		return false, err
	}
	l.listing = all
	return true, nil
}

func (l *Listing) newSource(withC bool) *source {
	s := newSource(token.NewFileSet(), types.SizesFor("gc", architecture(l.cfg.Env)), l.listing)
	if withC {
		s.askCgo = func(p *packages.Package) (*types.Package, error) { return l.runCgo(p, s.sizes) }
	}
	return s
}

func (l *Listing) load(src *source) ([]*Package, error) {
	var wanted []*packages.Package
	for _, root := range l.roots {
		if src.isWanted(root) {
			wanted = append(wanted, root)
		}
	}
	src.settle(l.involved(wanted))
	src.checkAll(wanted)
	var (
		pkgs     []*Package
		target   *Package
		inTarget Diagnostics
		diags    Diagnostics
	)
	if l.into != nil {
		var err error
		if target, inTarget, err = src.target(l.cfg, l.into); err != nil {
			return nil, err
		}
	}
	for _, root := range l.roots {
		if target != nil && root == l.into.root {
			diags = append(diags, inTarget...)
			pkgs = append(pkgs, target)
			continue
		}
		pkg := &Package{Fset: src.fset, Dir: root.Dir, Module: moduleOf(root), listed: l.listing}
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

// involved returns the packages whose types are asked for if those are wanted.
func (l *Listing) involved(wanted []*packages.Package) []*packages.Package {
	if l.into == nil {
		return wanted
	}
	all := append(slices.Clone(wanted), l.into.root)
	for _, p := range wanted {
		all = append(all, l.asImported(p))
	}
	return all
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
	if r.reportEndless() {
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

// unplaced reports the Go files that the go command cannot read or place in the build, in its own words. Nobody has read them, so
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
		if strings.HasPrefix(err.Msg, opening) {
			words = "cannot be read: " + words
		}
		diags = append(diags, Diagnostic{Pos: pos, Message: words})
	}
	return diags
}
