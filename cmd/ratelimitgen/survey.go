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
	listed, err := parse.List(cfg, patterns...)
	if err != nil {
		return nil, err
	}
	var places []parse.Elsewhere
	if !listed.HasTarget() {
		if places, err = listed.Elsewhere(); err != nil {
			return nil, err
		}
	}
	elsewhere := map[string]bool{}
	for _, place := range places {
		for _, origin := range place.Origins {
			elsewhere[origin] = true
		}
	}
	p, err := loadListed(listed, elsewhere)
	if err != nil {
		return nil, err
	}
	s := survey{p}
	for _, place := range places {
		if listed, err = place.List(cfg); err != nil {
			return nil, err
		}
		if p, err = loadListed(listed, nil); err != nil {
			return nil, err
		}
		s = append(s, p)
	}
	return s, nil
}

// complete returns the changes of all plans, in order of their paths, and the mistakes as an error.
func (s survey) complete() ([]change, error) {
	changes := map[string]change{}
	var all parse.Diagnostics
	for _, p := range s {
		planned, err := p.settle()
		var mistakes parse.Diagnostics
		if err != nil && !errors.As(err, &mistakes) {
			return nil, err
		}
		all = append(all, mistakes...)
		for _, c := range planned {
			changes[c.path] = c
		}
	}
	byPath := func(a, b change) int { return cmp.Compare(a.path, b.path) }
	return slices.SortedFunc(maps.Values(changes), byPath), asError(all)
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

// err returns the mistakes of all plans so far in order, or nil.
func (s survey) err() error {
	var all parse.Diagnostics
	for _, p := range s {
		all = append(all, p.mistakes...)
	}
	return asError(all)
}

// asError returns mistakes in order, or nil if there are none.
func asError(mistakes parse.Diagnostics) error {
	if len(mistakes) == 0 {
		return nil
	}
	mistakes.Sort()
	return mistakes
}
