package generate

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// checkComparisons reports comparisons that panic where both sides hold values of one type that cannot be compared, such as
// slices, which no code can ask for before.
func (c *expressionCheck) checkComparisons(e *expression) bool {
	ok := true
	ast.Inspect(e.node, func(n ast.Node) bool {
		comparison, isBinary := n.(*ast.BinaryExpr)
		if !isBinary || comparison.Op != token.EQL && comparison.Op != token.NEQ {
			return true
		}
		sides := []ast.Expr{comparison.X, comparison.Y}
		if slices.ContainsFunc(sides, func(side ast.Expr) bool { return e.isSafeToCompare(side) }) {
			return true
		}
		ok = false
		c.refuse(comparison.OpPos, fmt.Sprintf("%s panics if both sides hold what cannot be compared, such as slices: "+
			"want a call of a function of the package", comparison.Op))
		return true
	})
	return ok
}

// isSafeToCompare reports whether one side of a comparison keeps it from panicking, whatever the other one is: a constant,
// nil, a value of a type that is no interface and has none in it, or a variable of a package that is an error, as io.EOF is,
// for what has a name to be compared with is meant to be.
func (e *expression) isSafeToCompare(side ast.Expr) bool {
	tv := e.info.Types[side]
	return tv.Value != nil || tv.IsNil() || !mayHoldAny(tv.Type) || isError(tv.Type) && e.isOfPackage(side)
}

// isOfPackage reports whether an expression is the name of a variable of a package.
func (e *expression) isOfPackage(node ast.Expr) bool {
	name, ok := ast.Unparen(node).(*ast.Ident)
	if selector, isSelector := ast.Unparen(node).(*ast.SelectorExpr); isSelector {
		name, ok = selector.Sel, true
	}
	if !ok {
		return false
	}
	v, ok := e.info.Uses[name].(*types.Var)
	return ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
}

// mayHoldAny reports whether values of type t may be made of values of types that are not known here. A type parameter may
// stand for an interface, even one that is comparable.
func mayHoldAny(t types.Type) bool {
	if _, isParam := types.Unalias(t).(*types.TypeParam); isParam {
		terms := termsOf(t)
		return len(terms) == 0 || slices.ContainsFunc(terms, mayHoldAny)
	}
	switch u := t.Underlying().(type) {
	case *types.Interface:
		return true
	case *types.Array:
		return mayHoldAny(u.Elem())
	case *types.Struct:
		return slices.ContainsFunc(slices.Collect(u.Fields()), func(field *types.Var) bool { return mayHoldAny(field.Type()) })
	}
	return false
}
