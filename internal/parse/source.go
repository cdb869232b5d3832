package parse

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/tools/go/packages"
)

// source reads, parses and type-checks packages, each file and each package once and only when somebody asks for it.
//
// Everything is checked from source and without function bodies: that needs no compiled dependencies, and works
// where those do not compile because a generated file is missing or broken.
type source struct {
	fset     *token.FileSet
	nowhere  token.Pos // a position in a file that there is not: the type checker panics at a type without any
	sizes    types.Sizes
	readFile func(string) ([]byte, error)
	parsed   map[string]*ast.File // files that somebody else has parsed, by path
	slots    chan struct{}        // as many as may work at once

	mu    sync.Mutex
	files map[string]*sourceFile
	pkgs  map[*packages.Package]*checkedPackage
	errs  []types.Error // of all packages

	askCgo func(*packages.Package) (*types.Package, error) // what cgo declares for a package; nil if nobody is to ask

	misread  atomic.Bool // a file that was not parsed as a whole is not what it seems to be
	settling sync.Mutex
	demand   *demand

	listed  *listing
	reaches map[*packages.Package]bool          // see reachesMarked
	unsure  map[*packages.Package]bool          // see isUnsure
	flat    map[*types.Interface]*flatInterface // see flatten

	inherited map[methodKey]*inheritedMethod // of packages without syntax
}

// checkedPackage is a package with types.
type checkedPackage struct {
	once   sync.Once
	pkg    *packages.Package
	types  *types.Package
	info   *types.Info
	files  []*sourceFile       // without our own output
	syntax []*ast.File         // of files, as far as something needs it
	needs  []*packages.Package // imports that declarations refer to
	failed bool                // there are errors
	cgoErr error               // why cgo could not be asked
}

func newSource(fset *token.FileSet, sizes types.Sizes, listed *listing) *source {
	s := &source{
		fset:     fset,
		nowhere:  token.Pos(fset.AddFile("", -1, 0).Base()),
		sizes:    sizes,
		readFile: os.ReadFile,
		slots:    make(chan struct{}, runtime.GOMAXPROCS(0)),
		files:    make(map[string]*sourceFile),
		pkgs:     make(map[*packages.Package]*checkedPackage),
		listed:   listed,
		reaches:  make(map[*packages.Package]bool),
		unsure:   make(map[*packages.Package]bool),
		flat:     make(map[*types.Interface]*flatInterface),
	}
	s.demand = newDemand(s)
	return s
}

// architecture is the GOARCH that the go command sees.
func architecture(env []string) string {
	if env == nil {
		env = os.Environ()
	}
	for _, entry := range slices.Backward(env) {
		if arch, ok := strings.CutPrefix(entry, "GOARCH="); ok && types.SizesFor("gc", arch) != nil {
			return arch
		}
	}
	return runtime.GOARCH
}

// checkAll checks packages at the same time.
func (s *source) checkAll(pkgs []*packages.Package) {
	s.settle(pkgs)
	var wg sync.WaitGroup
	for _, p := range pkgs {
		wg.Go(func() { s.check(p) })
	}
	wg.Wait()
}

// settle finds out what the packages need of others, unless that is known. Of those others no more is ever looked at.
func (s *source) settle(pkgs []*packages.Package) {
	s.settling.Lock()
	defer s.settling.Unlock()
	s.demand.settle(slices.DeleteFunc(slices.Clone(pkgs), func(p *packages.Package) bool { return s.demand.extents[p] != nil }))
}

// isDoubtful reports whether there are errors that a load as a whole might not have.
func (s *source) isDoubtful() bool {
	failed := false
	for _, c := range s.pkgs {
		failed = failed || c.failed
	}
	return failed || s.misread.Load()
}

// check returns the package with types. Its errors are kept in s.errs: most of them are none of our business.
func (s *source) check(p *packages.Package) *checkedPackage {
	c := s.unchecked(p)
	c.once.Do(func() {
		switch {
		case p.Types != nil: // somebody else has checked it
			c.types = p.Types
			return
		case p.PkgPath == "unsafe":
			c.types = types.Unsafe
			return
		}
		s.settle([]*packages.Package{p})
		s.checkAll(c.needs)
		s.slots <- struct{}{}
		s.checkFiles(p, c)
		<-s.slots
	})
	return c
}

// unchecked returns the package, be it with types already or not.
func (s *source) unchecked(p *packages.Package) *checkedPackage {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.pkgs[p]
	if c == nil {
		c = &checkedPackage{pkg: p}
		s.pkgs[p] = c
	}
	return c
}

func (s *source) checkFiles(p *packages.Package, c *checkedPackage) {
	packageC := s.packageC(p, c)
	var errs []types.Error
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.errs = append(s.errs, completed(errs)...)
	}()
	conf := types.Config{
		IgnoreFuncBodies: true,
		FakeImportC:      packageC == nil,
		Sizes:            s.sizes,
		Importer: importer(func(path string) (*types.Package, error) {
			if path == "C" {
				return packageC, nil
			}
			return s.imported(p, c, path)
		}),
		Error: func(err error) {
			var typeErr types.Error
			if errors.As(err, &typeErr) && !isAboutCgo(typeErr) {
				c.failed = c.failed || typeErr.Pos.IsValid() && typeErr.Pos != s.nowhere
				errs = append(errs, typeErr)
			}
		},
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		conf.GoVersion = "go" + p.Module.GoVersion
	}
	if isOurs(p) {
		c.info = &types.Info{Defs: make(map[*ast.Ident]types.Object)}
	}
	syntax := c.syntax
	if isOurs(p) {
		syntax = withDecorators(c.files, s.nowhere)
		if in := s.listed.into; in != nil && p == in.root && len(syntax) > 0 {
			s.addIncoming(syntax)
		}
	}
	if len(syntax) == 0 { // as where there is nothing but our own output
		c.types = emptyPackage(p.PkgPath, p.Name)
		return
	}
	c.types, _ = conf.Check(p.PkgPath, s.fset, syntax, c.info) // the error is the first of these
	if len(errs) > 0 && !slices.ContainsFunc(errs, isCycle) {
		errs = append(errs, instantiationCycle(s.fset, c.types)...)
	}
}

// dependsOn reports whether a package is another one, or its declarations depend on that, however indirectly.
func (s *source) dependsOn(c, other *checkedPackage, seen map[*checkedPackage]bool) bool {
	if c == other || seen[c] {
		return c == other
	}
	seen[c] = true
	return slices.ContainsFunc(c.needs, func(p *packages.Package) bool { return s.dependsOn(s.unchecked(p), other, seen) })
}

// completed returns errors of which those that end in a colon have what follows them.
func completed(errs []types.Error) []types.Error {
	for i := range errs {
		if !strings.HasSuffix(errs[i].Msg, ":") {
			continue
		}
		separator := " "
		for _, next := range errs[i+1:] {
			detail, goesOn := strings.CutPrefix(next.Msg, "\t")
			if !goesOn {
				break
			}
			errs[i].Msg += separator + detail
			separator = ", "
		}
	}
	return errs
}

// imported returns what an import of the package means. One that nothing needs is not looked at.
func (s *source) imported(p *packages.Package, c *checkedPackage, path string) (*types.Package, error) {
	imported := p.Imports[path]
	switch {
	case imported == nil: // left out of a cycle
		for _, err := range p.Errors {
			if strings.HasPrefix(err.Msg, "import cycle") {
				return nil, errors.New(err.Msg)
			}
		}
		return nil, fmt.Errorf("no package %s", path)
	case isProgram(p, imported):
		return nil, fmt.Errorf("import %q is a program, not an importable package", path)
	case !slices.Contains(c.needs, imported):
		return emptyPackage(path, imported.Name), nil
	case len(imported.GoFiles) == 0 && imported.PkgPath != "unsafe" && imported.Types == nil:
		if len(imported.Errors) > 0 {
			return nil, errors.New(imported.Errors[0].Msg)
		}
		return nil, fmt.Errorf("no Go files in %s", path)
	}
	return s.check(imported).types, nil
}

func emptyPackage(path, name string) *types.Package {
	empty := types.NewPackage(path, name)
	empty.MarkComplete()
	return empty
}

// importer is a function as a [types.Importer].
type importer func(path string) (*types.Package, error)

// Import returns what the function returns.
func (f importer) Import(path string) (*types.Package, error) { return f(path) }
