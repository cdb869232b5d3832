package generate

import (
	"cmp"
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"
)

// reexports are the aliases by which a package can name types that it cannot name as they are called: those of internal
// packages have other names in public ones.
type reexports struct {
	from    []*types.Package                    // where the code is to stand, and where the interfaces stand
	aliases *typeutil.Map                       // *types.TypeName by type; nil until they are needed
	generic map[*types.TypeName]*types.TypeName // generic aliases by the generic type of which they are nothing but another name
}

// reexport returns the alias that stands for a type, with type arguments if it is generic, or nil. It is the nearest one:
// that of the packages themselves, or else of one that they import, and so on.
func (p *printer) reexport(t *types.Named) (*types.TypeName, *types.TypeList) {
	r := p.reexports
	if r.aliases == nil {
		r.aliases, r.generic = new(typeutil.Map), map[*types.TypeName]*types.TypeName{}
		r.find(func(alias *types.TypeName) bool { return p.obstacle(alias) == "" })
	}
	if alias, ok := r.aliases.At(t).(*types.TypeName); ok {
		return alias, nil
	}
	return r.generic[t.Obj()], t.TypeArgs()
}

// find finds the aliases that can be used, in the order of what imports what.
func (r *reexports) find(usable func(*types.TypeName) bool) {
	seen := map[*types.Package]bool{}
	for next := r.from; len(next) > 0; {
		var imported []*types.Package
		for _, pkg := range next {
			if seen[pkg] {
				continue
			}
			seen[pkg] = true
			for _, name := range pkg.Scope().Names() {
				if obj, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok && usable(obj) {
					r.add(obj)
				}
			}
			imported = append(imported, pkg.Imports()...)
		}
		slices.SortFunc(imported, func(a, b *types.Package) int { return cmp.Compare(a.Path(), b.Path()) })
		next = imported
	}
}

// add notes a type's name if it is an alias, and the first one for what it stands for.
func (r *reexports) add(obj *types.TypeName) {
	alias, ok := obj.Type().(*types.Alias)
	if !ok {
		return
	}
	t, ok := types.Unalias(alias).(*types.Named)
	switch {
	case !ok:
	case alias.TypeParams().Len() == 0:
		if r.aliases.At(t) == nil {
			r.aliases.Set(t, obj)
		}
	case r.generic[t.Obj()] == nil && passesOn(alias.TypeParams(), t.TypeArgs()):
		r.generic[t.Obj()] = obj
	}
}

// passesOn reports whether type arguments are the type parameters, as in type A[K, V any] = internal.A[K, V].
func passesOn(params *types.TypeParamList, args *types.TypeList) bool {
	return slices.EqualFunc(slices.Collect(params.TypeParams()), slices.Collect(args.Types()), func(param *types.TypeParam, arg types.Type) bool {
		return types.Identical(param, arg)
	})
}
