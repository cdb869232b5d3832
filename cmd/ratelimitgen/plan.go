package main

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ratelimitgen/ratelimitgen/internal/generate"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// plan is what is to change so that generated files are what they should be.
type plan struct {
	pkgs     []*parse.Package
	sources  map[*parse.File][]byte    // that are generated
	changes  map[string]change         // by path
	owners   map[string]*parse.Package // of files that are generated, by path
	mistakes parse.Diagnostics
	broken   map[*parse.Package]bool // those that have mistakes, where nothing is to change
}

// makePlan returns the changes to the generated files of the packages, in order of their paths. The error tells which
// packages it could not plan for, and is [parse.Diagnostics] if they have mistakes.
func makePlan(cfg parse.Config, patterns []string) ([]change, error) {
	p, err := load(cfg, patterns)
	if err != nil {
		return nil, err
	}
	return p.complete()
}

// load returns a plan without changes: the packages, what is generated for them, and their mistakes.
func load(cfg parse.Config, patterns []string) (*plan, error) {
	pkgs, err := parse.Load(cfg, patterns...)
	var mistakes parse.Diagnostics
	if err != nil && !errors.As(err, &mistakes) {
		return nil, err
	}
	p := &plan{
		pkgs:     pkgs,
		sources:  map[*parse.File][]byte{},
		changes:  map[string]change{},
		owners:   map[string]*parse.Package{},
		mistakes: mistakes,
		broken:   map[*parse.Package]bool{},
	}
	for _, pkg := range pkgs {
		p.broken[pkg] = pkg.Mistaken
	}
	p.checkKeys()
	for _, pkg := range pkgs {
		if err := p.generate(pkg); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// complete returns the changes, and the mistakes as an error.
func (p *plan) complete() ([]change, error) {
	for _, pkg := range p.pkgs {
		if !p.broken[pkg] {
			p.report(pkg, generate.Verify(pkg, p.sources)...)
		}
		for _, f := range pkg.Files {
			if err := p.add(f); err != nil {
				return nil, err
			}
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

// add plans the file that is generated for f.
func (p *plan) add(f *parse.File) error {
	path := generate.Output(f.Path)
	p.owners[path] = f.Package
	c, err := newChange(path, p.sources[f])
	if err != nil {
		return err
	}
	if c.old != nil && !generate.IsOutput(c.old) {
		p.report(f.Package, generate.InTheWay(c.path))
	}
	p.changes[path] = c
	return nil
}

// clean plans to remove the generated files whose source is gone, or was looked at and has no annotated interface. One
// whose source is only left out of this build stays, and so does one of which nobody can tell.
func (p *plan) clean() error {
	unannotated, broken := map[string]bool{}, map[string]bool{} // files, and directories
	for _, pkg := range p.pkgs {
		for _, path := range pkg.Unannotated {
			unannotated[path] = !p.broken[pkg]
		}
		broken[pkg.Dir] = broken[pkg.Dir] || p.broken[pkg]
	}
	for dir, broken := range broken {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			path := filepath.Join(dir, entry.Name())
			source, ok := generate.Source(path)
			if _, planned := p.changes[path]; !ok || planned || !unannotated[source] && (broken || !isGone(source)) {
				continue
			}
			c, err := newChange(path, nil)
			if err != nil {
				return err
			}
			if generate.IsOutput(c.old) {
				p.changes[path] = c
			}
		}
	}
	return nil
}

func isGone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

func (p *plan) result() ([]change, error) {
	var changes []change
	for _, path := range slices.Sorted(maps.Keys(p.changes)) {
		if c := p.changes[path]; !c.isNone() && !p.broken[p.owners[path]] {
			changes = append(changes, c)
		}
	}
	return changes, p.err()
}

// err returns the mistakes in order, or nil.
func (p *plan) err() error {
	if len(p.mistakes) == 0 {
		return nil
	}
	p.mistakes.Sort()
	return p.mistakes
}
