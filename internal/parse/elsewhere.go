package parse

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/tools/go/packages"
)

// Elsewhere is a package of a main module that has decorators of other packages, as [Config.Into] puts them there.
type Elsewhere struct {
	Dir     string
	Origins []string // paths of the other packages, each of which may be gone

	sources []string // directories of those that are there
}

// Elsewhere returns the packages with decorators of others, sorted by directory: those that the patterns match, and those
// with decorators of packages that they match, of which only these are among the origins then. It looks where the go command
// looks for "./..." in the root of a module.
func (l *Listing) Elsewhere() ([]Elsewhere, error) {
	if len(l.modules) == 0 {
		return nil, nil
	}
	if err := l.addMainModules(l.cfg); err != nil {
		return nil, err
	}
	isAsked := func(p *packages.Package) bool {
		return slices.ContainsFunc(l.patterns, func(pattern string) bool { return isAskedFor(l.cfg.Dir, pattern, p) })
	}
	var found []Elsewhere
	for _, module := range l.modules {
		main := mainModule{dir: module.Dir, path: module.Path}
		var mu sync.Mutex
		err := walkTree(main.dir, func(dir string, files []string) {
			outputs := slices.DeleteFunc(outputsAmong(dir, files), func(o generatedFile) bool { return o.origin == "" })
			if len(outputs) == 0 {
				return
			}
			asked := isAsked
			if isAsked(&packages.Package{Dir: dir, PkgPath: main.pathOf(dir)}) {
				asked = func(*packages.Package) bool { return true }
			}
			if e := l.elsewhere(dir, outputs, asked); len(e.Origins) > 0 {
				mu.Lock()
				defer mu.Unlock()
				found = append(found, e)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(found, func(a, b Elsewhere) int { return cmp.Compare(a.Dir, b.Dir) })
	return found, nil
}

// elsewhere returns the package in a directory that has the given decorators of others, as far as these others are asked for
// and not of another module, which says nothing.
func (l *listing) elsewhere(dir string, outputs []generatedFile, isAsked func(*packages.Package) bool) Elsewhere {
	e := Elsewhere{Dir: dir}
	for _, o := range outputs {
		source, known := l.sourceDir(dir, o.origin)
		if !known || slices.Contains(e.Origins, o.origin) || !isAsked(&packages.Package{Dir: source, PkgPath: o.origin}) {
			continue
		}
		e.Origins = append(e.Origins, o.origin)
		if len(goFilesIn(source)) > 0 {
			e.sources = append(e.sources, source)
		}
	}
	return e
}

// List asks the go command for the packages whose decorators are in e. If none of them is in this build any more, it asks for
// the one that has them.
func (e Elsewhere) List(cfg Config) (*Listing, error) {
	cfg.Into = e.Dir
	named := map[string]*folder{e.Dir: {files: goFilesIn(e.Dir)}}
	for _, dir := range e.sources {
		named[dir] = &folder{files: goFilesIn(dir)}
	}
	listed, err := ask(cfg, nil, e.sources, named)
	if err == nil && len(listed.roots) == 0 {
		listed, err = ask(cfg, []string{e.Dir}, nil, named)
	}
	return &Listing{cfg: cfg, listing: listed}, err
}

// HasDecoratorsElsewhere reports whether another package of the same module has decorators of the package's interfaces.
func (p *Package) HasDecoratorsElsewhere() bool {
	root := rootAbove(p.Dir)
	if root == "" {
		return false
	}
	var found atomic.Bool
	err := walkTree(root, func(dir string, files []string) {
		isOf := func(o generatedFile) bool { return o.origin == p.Types.Path() }
		if dir != p.Dir && slices.ContainsFunc(outputsAmong(dir, files), isOf) {
			found.Store(true)
		}
	})
	return err == nil && found.Load()
}

// HasOwnDecorators reports whether decorators of the package's interfaces are in the package itself, those for its tests left
// aside: these cannot be anywhere else.
func (p *Package) HasOwnDecorators() bool {
	return slices.ContainsFunc(outputsIn(p.Dir), func(o generatedFile) bool {
		return o.origin == "" && !strings.HasSuffix(o.source, "_test.go")
	})
}
