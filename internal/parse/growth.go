package parse

import (
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// instantiationCycle returns an error for the first type of the package that is instantiated without end, if there is one, as is A
// in "type A[P any] struct{ *A[[]P] }": to look for a field or a method of one takes forever. The type checker looks for such
// types if a package has no other errors only, and has the same words for them.
//
// A type parameter may come from itself, by way of others, too. There is no end if it is a part of another type by then.
func instantiationCycle(fset *token.FileSet, pkg *types.Package) []types.Error {
	var g growth
	for _, name := range pkg.Scope().Names() {
		if named, ok := pkg.Scope().Lookup(name).Type().(*types.Named); ok && named.Obj().Pkg() == pkg {
			g.addType(named)
		}
	}
	for _, s := range g {
		if s.grows() && g.leads(s.to, s.from, make(map[*types.TypeParam]bool)) {
			words := s.to.Obj().Name() + " instantiated as " + types.TypeString(s.arg, types.RelativeTo(pkg))
			return []types.Error{{Fset: fset, Pos: s.to.Obj().Pos(), Msg: cycleWords + " " + words}}
		}
	}
	return nil
}

// cycleWords begin an error about such a type.
const cycleWords = "instantiation cycle:"

func isCycle(err types.Error) bool { return strings.HasPrefix(err.Msg, cycleWords) }

// growth is how type parameters of a package come from one another.
type growth []growthStep

// growthStep is a type argument with a type parameter in it, in the place of another one.
type growthStep struct {
	from, to *types.TypeParam
	arg      types.Type
}

// grows reports whether the argument is more than the parameter.
func (s growthStep) grows() bool { return s.arg != s.from }

// leads reports whether one parameter is the other, or becomes it or a part of it.
func (g growth) leads(from, to *types.TypeParam, seen map[*types.TypeParam]bool) bool {
	if from == to || seen[from] {
		return from == to
	}
	seen[from] = true
	return slices.ContainsFunc(g, func(s growthStep) bool { return s.from == from && g.leads(s.to, to, seen) })
}

// addType adds what the declaration of a generic type has, and those of its methods.
func (g *growth) addType(named *types.Named) {
	if named.TypeParams().Len() == 0 {
		return
	}
	for param := range named.TypeParams().TypeParams() {
		g.add(param.Constraint())
	}
	g.add(named.Underlying())
	for method := range named.Methods() {
		received := method.Signature().RecvTypeParams() // to the type checker, others than those of the type
		for i := range min(received.Len(), named.TypeParams().Len()) {
			g.addStep(named.TypeParams().At(i), received.At(i))
		}
		g.add(method.Type())
	}
}

// add adds the type arguments that a type is spelled with.
func (g *growth) add(t types.Type) {
	var visit part
	visit = func(t types.Type) bool {
		switch t := t.(type) {
		case *types.Alias:
			visit.in(t.Rhs())
		case *types.Named:
			params := t.Origin().TypeParams()
			for i := range min(params.Len(), t.TypeArgs().Len()) {
				g.addStep(t.TypeArgs().At(i), params.At(i))
			}
		}
		return false
	}
	visit.in(t)
}

// addStep adds the type parameters in a type argument, which stands in the place of another one.
func (g *growth) addStep(arg types.Type, to *types.TypeParam) {
	arg = types.Unalias(arg) // what an alias stands for may have none of its arguments
	part(func(t types.Type) bool {
		if from, ok := t.(*types.TypeParam); ok {
			*g = append(*g, growthStep{from, to, arg})
		}
		return false
	}).in(arg)
}
