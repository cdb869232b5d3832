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
	n := w.lengthOfSlice(t, arg)
	if n == 0 {
		return code.Call(w.value(arg))
	}
	pl := w.place(arg)
	w.requireLen(pl, n)
	return code.Call(pl.code)
}

// lengthOfSlice returns how long a slice must be to become a T, or 0 if it may be empty or is none.
func (w *lowering) lengthOfSlice(t types.Type, arg ast.Expr) int64 {
	array := coreOf(t)
	if p, ok := array.(*types.Pointer); ok {
		array = coreOf(p.Elem())
	}
	a, toArray := array.(*types.Array)
	if _, fromSlice := coreOf(w.typ(arg)).(*types.Slice); !toArray || !fromSlice {
		return 0
	}
	return a.Len()
}

// arrayOfSlice returns the elements of a slice as an array by its pointer, which is not nil as it has some. It reports false
// for what is something else.
func (w *lowering) arrayOfSlice(e *ast.CallExpr) (place, bool) {
	fun := w.info.Types[e.Fun]
	if !fun.IsType() || len(e.Args) != 1 || w.lengthOfSlice(fun.Type, e.Args[0]) == 0 {
		return place{}, false
	}
	if _, isPointer := coreOf(fun.Type).(*types.Pointer); !isPointer {
		return place{}, false
	}
	switch ast.Unparen(e.Args[0]).(type) {
	case *ast.Ident, *ast.SelectorExpr: // or else it would be made of two calls
	default:
		return place{}, false
	}
	pl := place{code: w.conversion(fun.Type, e), text: types.ExprString(e)}
	w.known.add(fact{text: pl.text + " != nil"})
	return pl, true
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
