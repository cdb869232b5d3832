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
	at = w.place(e.Index)
	w.requireInRange(at, w.typ(e.Index), pl, "<")
	return pl, at
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

// requireInRange requires that an index is not negative, and less than the length of a value, or at most that.
func (w *lowering) requireInRange(at place, t types.Type, pl place, op string) {
	length := w.p.predeclared("len").Call(pl.code)
	text := fmt.Sprintf("%s %s len(%s)", at.text, op, pl.text)
	kind, code := types.Invalid, jen.Add(at.code)
	if basic, ok := coreOf(t).(*types.Basic); ok {
		kind = basic.Kind()
	}
	switch kind {
	case types.Int, types.Int8, types.Int16, types.Int32:
		w.require(fact{text: at.text + " >= 0"}, jen.Add(at.code).Op(">=").Lit(0))
	case types.Uint8, types.Uint16:
	default: // one that is negative becomes huge
		wide := w.p.predeclared("uint64")
		w.require(fact{text: text}, jen.Add(wide).Call(at.code).Op(op).Add(wide).Call(length))
		return
	}
	if types.Unalias(t) != types.Typ[types.Int] {
		code = w.p.predeclared("int").Call(code)
	}
	w.require(fact{text: text}, code.Op(op).Add(length))
}

// slice returns the code of x[low:high].
func (w *lowering) slice(e *ast.SliceExpr) *jen.Statement {
	bounds := []jen.Code{jen.Empty(), jen.Empty()}
	_, isPointer := coreOf(w.typ(e.X)).(*types.Pointer)
	if !isPointer && (e.Low == nil || w.constant(e.Low) == 0) && e.High == nil {
		return w.value(e.X).Index(bounds...)
	}
	pl := w.place(e.X)
	if isPointer {
		w.requireNotNil(pl)
	}
	var low place
	for i, bound := range []ast.Expr{e.Low, e.High} {
		if bound == nil {
			continue
		}
		at := w.bound(bound, pl)
		bounds[i] = at.code
		if i == 0 {
			low = at
		} else if low.code != nil && (w.constant(e.Low) < 0 || w.constant(bound) < 0) {
			w.requireOrder(low, w.typ(e.Low), at, w.typ(bound))
		}
	}
	return pl.operand().Index(bounds...)
}

// bound returns a bound of a slice, which is in range.
func (w *lowering) bound(e ast.Expr, pl place) place {
	if n := w.constant(e); n >= 0 {
		w.requireLen(pl, n)
		return w.constantPlace(e)
	}
	at := w.place(e)
	w.requireInRange(at, w.typ(e), pl, "<=")
	return at
}

// requireOrder requires that a slice does not end before it begins. Both bounds are known to be in range.
func (w *lowering) requireOrder(low place, lowType types.Type, high place, highType types.Type) {
	if !types.Identical(lowType, highType) && !isUntyped(lowType) && !isUntyped(highType) {
		wide := func(x *jen.Statement) *jen.Statement { return w.p.predeclared("uint64").Call(x) }
		low.code, high.code = wide(low.code), wide(high.code)
	}
	w.require(fact{text: low.text + " <= " + high.text}, jen.Add(low.code).Op("<=").Add(high.code))
}

func isUntyped(t types.Type) bool { return basicInfo(t)&types.IsUntyped != 0 }
