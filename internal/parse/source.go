package parse

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

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
	needs  []*packages.Package // imports that declarations refer to
	failed bool                // there are errors
}

func newSource(fset *token.FileSet, sizes types.Sizes, listed *listing) *source {
	return &source{
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
	var wg sync.WaitGroup
	for _, p := range pkgs {
		wg.Go(func() { s.check(p) })
	}
	wg.Wait()
}

// check returns the package with types. Its errors are kept in s.errs: most of them are none of our business.
func (s *source) check(p *packages.Package) *checkedPackage {
	s.mu.Lock()
	c := s.pkgs[p]
	if c == nil {
		c = &checkedPackage{pkg: p}
		s.pkgs[p] = c
	}
	s.mu.Unlock()
	c.once.Do(func() {
		switch {
		case p.Types != nil: // somebody else has checked it
			c.types = p.Types
			return
		case p.PkgPath == "unsafe":
			c.types = types.Unsafe
			return
		}
		s.slots <- struct{}{}
		s.parseAll(p, c)
		<-s.slots
		s.checkAll(c.needs)
		s.slots <- struct{}{}
		s.checkFiles(p, c)
		<-s.slots
	})
	return c
}

// parseAll parses the files of the package and finds out which of its imports they need.
func (s *source) parseAll(p *packages.Package, c *checkedPackage) {
	needs := make(map[*packages.Package]bool)
	for _, path := range p.GoFiles {
		if s.read(p, path).generated {
			continue
		}
		f := s.parse(p, path)
		c.files = append(c.files, f)
		used := usedNames(f.syntax)
		if f.directives != nil {
			maps.Copy(used, f.directives.names)
		}
		for _, spec := range f.syntax.Imports {
			name, imported := importName(p, spec), p.Imports[pathOf(spec)]
			if imported != nil && (used[name] || name == "." || len(imported.Errors) > 0) { // an error may be about the name
				needs[imported] = true
			}
		}
	}
	c.needs = slices.Collect(maps.Keys(needs))
}

func (s *source) checkFiles(p *packages.Package, c *checkedPackage) {
	conf := types.Config{
		IgnoreFuncBodies: true,
		FakeImportC:      true,
		Sizes:            s.sizes,
		Importer:         importer(func(path string) (*types.Package, error) { return s.imported(p, c, path) }),
		Error: func(err error) {
			var typeErr types.Error
			if errors.As(err, &typeErr) {
				c.failed = c.failed || typeErr.Pos.IsValid() && typeErr.Pos != s.nowhere
				s.mu.Lock()
				s.errs = append(s.errs, typeErr)
				s.mu.Unlock()
			}
		},
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		conf.GoVersion = "go" + p.Module.GoVersion
	}
	if isOurs(p) {
		c.info = &types.Info{Defs: make(map[*ast.Ident]types.Object)}
	}
	syntax := withDecorators(c.files, s.nowhere)
	if in := s.listed.into; in != nil && p == in.root && len(syntax) > 0 {
		s.addIncoming(syntax)
	}
	if !isOurs(p) {
		syntax = syntaxOf(c.files)
	}
	c.types, _ = conf.Check(p.PkgPath, s.fset, syntax, c.info) // the error is the first of s.errs
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
	case !slices.Contains(c.needs, imported):
		unused := types.NewPackage(path, imported.Name)
		unused.MarkComplete()
		return unused, nil
	case len(imported.GoFiles) == 0 && imported.PkgPath != "unsafe" && imported.Types == nil:
		if len(imported.Errors) > 0 {
			return nil, errors.New(imported.Errors[0].Msg)
		}
		return nil, fmt.Errorf("no Go files in %s", path)
	}
	return s.check(imported).types, nil
}

// importer is a function as a [types.Importer].
type importer func(path string) (*types.Package, error)

// Import returns what the function returns.
func (f importer) Import(path string) (*types.Package, error) { return f(path) }
