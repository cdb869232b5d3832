package generate

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"

	"github.com/dave/jennifer/jen"
)

// conversion returns the code of T(x). A slice must be as long as the array that it becomes.
func (w *lowering) conversion(t types.Type, e *ast.CallExpr) *jen.Statement {
	arg := e.Args[0]
	code := w.typeExpr(e.Fun)
	switch ast.Unparen(e.Fun).(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.ArrayType, *ast.MapType, *ast.IndexExpr, *ast.IndexListExpr:
	default: // *T(x) would be *(T(x))
		code = jen.Parens(code)
	}
	array := coreOf(t)
	if p, ok := array.(*types.Pointer); ok {
		array = coreOf(p.Elem())
	}
	a, toArray := array.(*types.Array)
	if _, fromSlice := coreOf(w.typ(arg)).(*types.Slice); !toArray || !fromSlice || a.Len() == 0 {
		return code.Call(w.value(arg))
	}
	pl := w.place(arg)
	w.requireLen(pl, a.Len())
	return code.Call(pl.code)
}

// requireLen requires that a value has n elements or more.
func (w *lowering) requireLen(pl place, n int64) {
	if n == 0 {
		return
	}
	length := w.p.predeclared("len").Call(pl.code)
	if n == 1 {
		w.require(fact{text: pl.text, length: 1}, length.Op(">").Lit(0))
		return
	}
	w.require(fact{text: pl.text, length: n}, length.Op(">=").Id(fmt.Sprint(n)))
}

// index returns the code of an element. That of a map may be missing, which is no mistake in Go.
func (w *lowering) index(e *ast.IndexExpr) *jen.Statement {
	core := coreOf(w.typ(e.X))
	_, isMap := core.(*types.Map)
	if _, isArray := core.(*types.Array); isMap || isArray && w.constant(e.Index) >= 0 { // or it would not compile
		return w.value(e.X).Index(w.value(e.Index))
	}
	pl, at := w.element(e)
	return pl.operand().Index(at.code)
}

// element returns what is indexed and its index, which is in range.
func (w *lowering) element(e *ast.IndexExpr) (pl, at place) {
	pl = w.place(e.X)
	n := w.constant(e.Index)
	switch coreOf(w.typ(e.X)).(type) {
	case *types.Pointer:
		w.requireNotNil(pl)
		if n >= 0 {
			return pl, w.constantPlace(e.Index)
		}
	case *types.Array:
		if n >= 0 {
			return pl, w.constantPlace(e.Index)
		}
	}
	if n >= 0 {
		w.requireLen(pl, n+1)
		return pl, w.constantPlace(e.Index)
	}
	i := w.bound(e.Index)
	w.requireNotNegative(i)
	w.requireBelow(i, "<", pl)
	return pl, i.place
}

func (w *lowering) constantPlace(e ast.Expr) place {
	return place{code: w.value(e), text: types.ExprString(e)}
}

// constant returns the value of an expression that is a constant and an index, or else -1.
func (w *lowering) constant(e ast.Expr) int64 {
	if v := w.info.Types[e].Value; v != nil {
		if n, exact := constant.Int64Val(constant.ToInt(v)); exact {
			return n
		}
	}
	return -1
}

func isUntyped(t types.Type) bool { return basicInfo(t)&types.IsUntyped != 0 }
