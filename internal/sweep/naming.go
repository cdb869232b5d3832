package main

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"
)

// naming knows how a package's types can be called elsewhere.
type naming struct {
	pkg     *types.Package
	literal bool          // types have to be written as they are, and without type parameters
	aliases *typeutil.Map // types that have a public alias; nil until they are needed
}

// hasAlias reports whether the package, or one that it depends on, has a public alias for the type.
func (n *naming) hasAlias(t types.Type) bool {
	if n.aliases == nil {
		n.aliases = new(typeutil.Map)
		n.find(n.pkg, map[*types.Package]bool{})
	}
	return n.aliases.At(t) != nil
}

func (n *naming) find(pkg *types.Package, seen map[*types.Package]bool) {
	if seen[pkg] {
		return
	}
	seen[pkg] = true
	for _, name := range pkg.Scope().Names() {
		if object, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok && object.IsAlias() && isPublic(object) && !isGeneric(object.Type()) {
			n.aliases.Set(object.Type(), true)
		}
	}
	for _, imported := range pkg.Imports() {
		n.find(imported, seen)
	}
}

// cover reports whether any package can write the type down.
func (n *naming) cover(t types.Type) bool {
	switch t := t.(type) {
	case *types.Alias:
		if isPublic(t.Obj()) {
			return n.coverAll(slices.Collect(t.TypeArgs().Types()))
		}
		return !n.literal && n.cover(t.Rhs()) // it can be written without the alias
	case *types.Named:
		return isPublic(t.Obj()) && n.coverAll(slices.Collect(t.TypeArgs().Types())) || !n.literal && n.hasAlias(t)
	case *types.TypeParam:
		return !n.literal
	case *types.Pointer:
		return n.cover(t.Elem())
	case *types.Slice:
		return n.cover(t.Elem())
	case *types.Array:
		return n.cover(t.Elem())
	case *types.Chan:
		return n.cover(t.Elem())
	case *types.Map:
		return n.cover(t.Key()) && n.cover(t.Elem())
	case *types.Tuple:
		return !slices.ContainsFunc(slices.Collect(t.Variables()), func(v *types.Var) bool { return !n.cover(v.Type()) })
	case *types.Signature:
		return n.cover(t.Params()) && n.cover(t.Results())
	case *types.Struct:
		return !slices.ContainsFunc(slices.Collect(t.Fields()), func(v *types.Var) bool { return !v.Exported() || !n.cover(v.Type()) })
	case *types.Interface:
		return n.coverAll(slices.Collect(t.EmbeddedTypes())) &&
			!slices.ContainsFunc(slices.Collect(t.ExplicitMethods()), func(m *types.Func) bool { return !m.Exported() || !n.cover(m.Signature()) })
	case *types.Union:
		return !slices.ContainsFunc(slices.Collect(t.Terms()), func(term *types.Term) bool { return !n.cover(term.Type()) })
	}
	return true
}

func (n *naming) coverAll(list []types.Type) bool {
	return !slices.ContainsFunc(list, func(t types.Type) bool { return !n.cover(t) })
}

func isPublic(object *types.TypeName) bool {
	return object.Pkg() == nil || object.Exported() && isImportable(object.Pkg().Path())
}
