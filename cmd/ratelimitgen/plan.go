package main

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/ratelimitgen/ratelimitgen/internal/generate"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// plan is what is to change so that generated files are what they should be.
type plan struct {
	listed    *parse.Listing
	elsewhere map[string]bool // paths of packages whose decorators are in others
	pkgs      []*parse.Package
	sources   map[*parse.File][]byte // that are generated
	changes   map[string]change      // by path
	owners    map[string]*parse.File // of files that are generated, by path
	mistakes  parse.Diagnostics
	broken    map[*parse.Package]bool // those that have mistakes, where nothing is to change
}

// makePlan returns the changes to the generated files of the packages, in order of their paths. The error tells which
// packages it could not plan for, and is [parse.Diagnostics] if they have mistakes.
func makePlan(cfg parse.Config, patterns []string) ([]change, error) {
	p, err := load(cfg, patterns)
	if err != nil {
		return nil, err
	}
	return p.settle()
}

// load returns a plan without changes: the packages, what is generated for them, and their mistakes.
func load(cfg parse.Config, patterns []string) (*plan, error) {
	listed, err := parse.List(cfg, patterns...)
	if err != nil {
		return nil, err
	}
	return loadListed(listed, nil)
}

// loadListed returns a plan without changes, with nothing for packages that have their decorators elsewhere.
func loadListed(listed *parse.Listing, elsewhere map[string]bool) (*plan, error) {
	pkgs, err := listed.LoadSparse(generate.Stubs)
	p, err := newPlan(listed, elsewhere, pkgs, err)
	for err == nil && p.isDoubtful() {
		p, err = p.better()
	}
	return p, err
}

// isDoubtful reports whether mistakes may be none, or want other words, once more is known of their packages.
func (p *plan) isDoubtful() bool {
	return slices.ContainsFunc(p.pkgs, func(pkg *parse.Package) bool { return p.broken[pkg] && pkg.IsDoubtful() })
}

// better returns the plan anew, for packages of which more is known where there are mistakes.
func (p *plan) better() (*plan, error) {
	pkgs, err := p.listed.LoadBetter(p.pkgs, func(pkg *parse.Package) bool { return p.broken[pkg] })
	return newPlan(p.listed, p.elsewhere, pkgs, err)
}

// newPlan returns a plan for packages that were loaded with that error.
func newPlan(listed *parse.Listing, elsewhere map[string]bool, pkgs []*parse.Package, err error) (*plan, error) {
	var mistakes parse.Diagnostics
	if err != nil && !errors.As(err, &mistakes) {
		return nil, err
	}
	p := &plan{
		listed:    listed,
		elsewhere: elsewhere,
		pkgs:      pkgs,
		sources:   map[*parse.File][]byte{},
		changes:   map[string]change{},
		owners:    map[string]*parse.File{},
		mistakes:  mistakes,
		broken:    map[*parse.Package]bool{},
	}
	for _, pkg := range pkgs {
		p.broken[pkg] = pkg.Mistaken
	}
	p.checkKeys()
	for _, pkg := range pkgs {
		if p.isElsewhere(pkg) {
			continue
		}
		if err := p.generate(pkg); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// isElsewhere reports whether the decorators of a package are in others only.
func (p *plan) isElsewhere(pkg *parse.Package) bool {
	return pkg.Types != nil && p.elsewhere[pkg.Types.Path()] && !pkg.HasOwnDecorators()
}

// settle returns what complete does, for packages of which all is known if they have mistakes.
func (p *plan) settle() ([]change, error) {
	for {
		changes, err := p.complete()
		if err == nil || !p.isDoubtful() {
			return changes, err
		}
		if p, err = p.better(); err != nil {
			return nil, err
		}
	}
}

// complete returns the changes, and the mistakes as an error.
func (p *plan) complete() ([]change, error) {
	for _, pkg := range p.pkgs {
		if p.isElsewhere(pkg) {
			continue
		}
		for _, f := range pkg.Files {
			p.claim(f)
		}
	}
	p.verify()
	for _, path := range slices.Sorted(maps.Keys(p.owners)) {
		if err := p.add(path, p.owners[path]); err != nil {
			return nil, err
		}
	}
	if err := p.clean(); err != nil {
		return nil, err
	}
	return p.result()
}

// report notes mistakes of a package. They may be in a file of another one, whose lines hold in it.
func (p *plan) report(pkg *parse.Package, mistakes ...parse.Diagnostic) {
	p.mistakes = append(p.mistakes, mistakes...)
	p.broken[pkg] = p.broken[pkg] || len(mistakes) > 0
}

// checkKeys reports keys that do not stand for one thing, for each package that has a limit with such a key.
func (p *plan) checkKeys() {
	type place struct {
		path string
		line int
	}
	users := map[place][]*parse.Package{} // of directives
	for _, pkg := range p.pkgs {
		for _, f := range pkg.Files {
			for _, iface := range f.Interfaces {
				for _, m := range iface.Methods {
					for _, l := range m.Limits {
						pos := pkg.Fset.PositionFor(l.Pos, false)
						at := place{pos.Filename, pos.Line}
						users[at] = append(users[at], pkg)
					}
				}
			}
		}
	}
	for _, mistake := range generate.CheckKeys(p.pkgs) {
		for _, pkg := range users[place{mistake.Pos.Filename, mistake.Pos.Line}] {
			p.broken[pkg] = true
		}
		p.mistakes = append(p.mistakes, mistake)
	}
}

// generate generates the files of a package.
func (p *plan) generate(pkg *parse.Package) error {
	for _, f := range pkg.Files {
		source, err := generate.File(f)
		var mistakes parse.Diagnostics
		switch {
		case err == nil:
			p.sources[f] = source
		case errors.As(err, &mistakes):
			p.report(pkg, mistakes...)
		default:
			return err
		}
	}
	return nil
}

// claim notes which file is generated for f. Two packages that go into one may have files of one name.
func (p *plan) claim(f *parse.File) {
	path := generate.Path(f)
	other, taken := p.owners[path]
	if !taken {
		p.owners[path] = f
		return
	}
	p.reportShared(f, path, other.Path)
	p.reportShared(other, path, f.Path)
}

// reportShared reports that the decorators of a file would go where those of another one do.
func (p *plan) reportShared(f *parse.File, path, other string) {
	p.report(f.Package, parse.Diagnostic{
		Pos: f.Package.Fset.PositionFor(f.Syntax.Name.Pos(), false),
		Message: fmt.Sprintf("%s is to hold the decorators of this file and those of %s: want another name for one of the two, or another -into",
			path, other),
	})
}

// verify reports generated files that do not compile, together with all others that go into the same package.
func (p *plan) verify() {
	var targets []*parse.Package
	sound := map[*parse.File][]byte{}
	for f, source := range p.sources {
		if p.broken[f.Package] {
			continue
		}
		sound[f] = source
		if !slices.Contains(targets, f.Target()) {
			targets = append(targets, f.Target())
		}
	}
	for _, target := range targets {
		faults := generate.Verify(target, sound)
		for _, f := range target.Sources() {
			if _, ok := sound[f]; ok {
				p.report(f.Package, faults...)
			}
		}
	}
}

// add plans the file at path, which is generated for f.
func (p *plan) add(path string, f *parse.File) error {
	if isDir(path) {
		p.report(f.Package, parse.Diagnostic{
			Pos:     f.Package.Fset.PositionFor(f.Syntax.Name.Pos(), false),
			Message: path + " is a directory, and is to hold the decorators of this file: want another name for one of the two",
		})
		return nil
	}
	c, err := newChange(path, p.sources[f])
	if err != nil {
		return err
	}
	switch {
	case c.old == nil:
	case !parse.IsOutput(c.path, c.old):
		p.report(f.Package, generate.InTheWay(c.path))
	default:
		p.checkOwner(path, f, c.old)
	}
	p.changes[path] = c
	return nil
}

// checkOwner reports a generated file at path that is for another source than f, if that is still there.
func (p *plan) checkOwner(path string, f *parse.File, content []byte) {
	from, ok := f.Target().SourceDir(content)
	other := filepath.Join(from, filepath.Base(f.Path))
	if !ok || other == f.Path || isGone(other) {
		return
	}
	for _, pkg := range slices.Concat(p.pkgs, []*parse.Package{f.Target()}) {
		if slices.Contains(pkg.Unannotated, other) {
			return
		}
	}
	p.reportShared(f, path, other)
}

func (p *plan) result() ([]change, error) {
	var changes []change
	for _, path := range slices.Sorted(maps.Keys(p.changes)) {
		if c := p.changes[path]; !c.isNone() && (p.owners[path] == nil || !p.broken[p.owners[path].Package]) {
			changes = append(changes, c)
		}
	}
	return changes, asError(p.mistakes)
}
