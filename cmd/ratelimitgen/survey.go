package main

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// survey is a plan for the packages, and one for each other package that has decorators of theirs: those who look at what is
// there are not told where it is.
type survey []*plan

// makeSurvey returns plans without changes. With -into there is one place only.
func makeSurvey(cfg parse.Config, patterns []string) (survey, error) {
	if cfg.Into != "" {
		p, err := load(cfg, patterns)
		return survey{p}, err
	}
	pkgs, mistakes := parse.Load(cfg, patterns...)
	if mistakes != nil && !errors.As(mistakes, new(parse.Diagnostics)) {
		return nil, mistakes
	}
	var places []parse.Elsewhere
	if slices.ContainsFunc(pkgs, func(pkg *parse.Package) bool { return pkg.Module != "" }) {
		var err error
		if places, err = parse.FindElsewhere(cfg, patterns); err != nil {
			return nil, err
		}
	}
	elsewhere := map[string]bool{}
	for _, place := range places {
		for _, origin := range place.Origins {
			elsewhere[origin] = true
		}
	}
	p, err := newPlan("", pkgs, mistakes, elsewhere)
	if err != nil {
		return nil, err
	}
	s := survey{p}
	for _, place := range places {
		pkgs, err := place.Load(cfg)
		p, err := newPlan(place.Dir, pkgs, err, nil)
		if err != nil {
			return nil, err
		}
		s = append(s, p)
	}
	return s, nil
}

// complete returns the changes of all plans, in order of their paths, and the mistakes as an error.
func (s survey) complete() ([]change, error) {
	changes := map[string]change{}
	for _, p := range s {
		planned, err := p.complete()
		if err != nil && !errors.As(err, new(parse.Diagnostics)) {
			return nil, err
		}
		for _, c := range planned {
			changes[c.path] = c
		}
	}
	byPath := func(a, b change) int { return cmp.Compare(a.path, b.path) }
	return slices.SortedFunc(maps.Values(changes), byPath), s.err()
}

// sound returns the packages without mistakes.
func (s survey) sound() []*parse.Package {
	broken := map[string]bool{} // by path
	for _, p := range s {
		for pkg, isBroken := range p.broken {
			if isBroken && pkg.Types != nil {
				broken[pkg.Types.Path()] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(s[0].pkgs), func(pkg *parse.Package) bool {
		return s[0].broken[pkg] || pkg.Types != nil && broken[pkg.Types.Path()]
	})
}

// err returns the mistakes of all plans in order, or nil.
func (s survey) err() error {
	var all parse.Diagnostics
	for _, p := range s {
		all = append(all, p.mistakes...)
	}
	if len(all) == 0 {
		return nil
	}
	all.Sort()
	return all
}
