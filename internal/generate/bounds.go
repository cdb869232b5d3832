package generate

import (
	"fmt"
	"go/ast"
	"go/types"
	"math"

	"github.com/dave/jennifer/jen"
)

// bound is an index, or a bound of a slice.
type bound struct {
	place
	typ      types.Type
	constant int64 // its value; -1 if it is no constant
	wide     bool  // whether it may have values that an int has not, and is compared as a uint64, as which no number is negative
}

func (w *lowering) bound(e ast.Expr) bound {
	if n := w.constant(e); n >= 0 {
		return bound{place: w.constantPlace(e), typ: w.typ(e), constant: n}
	}
	b := bound{place: w.place(e), typ: w.typ(e), constant: -1, wide: true}
	if basic, ok := coreOf(b.typ).(*types.Basic); ok {
		switch basic.Kind() {
		case types.Int, types.Int8, types.Int16, types.Int32, types.Uint8, types.Uint16:
			b.wide = false
		}
	}
	return b
}

func (b bound) isUnsigned() bool { return b.constant >= 0 || basicInfo(b.typ)&types.IsUnsigned != 0 }

// as returns the bound as a value of a predeclared type, or as it is. A constant is of all types.
func (w *lowering) as(name string, b bound) *jen.Statement {
	switch {
	case b.constant >= 0:
		return jen.Id(fmt.Sprint(b.constant))
	case name == "" || types.Unalias(b.typ).String() == name:
		return jen.Add(b.code)
	}
	return w.p.predeclared(name).Call(b.code)
}

// requireNotNegative requires that of a bound whose other comparisons do not say it.
func (w *lowering) requireNotNegative(b bound) {
	if !b.wide && !b.isUnsigned() {
		w.require(fact{text: b.text + " >= 0"}, jen.Add(b.code).Op(">=").Lit(0))
	}
}

// requireBelow requires that a bound is less than the length of a value, or at most that.
func (w *lowering) requireBelow(b bound, op string, pl place) {
	f := fact{text: fmt.Sprintf("%s %s len(%s)", b.text, op, pl.text)}
	length := w.p.predeclared("len").Call(pl.code)
	if b.wide {
		w.require(f, w.as("uint64", b).Op(op).Add(w.p.predeclared("uint64").Call(length)))
		return
	}
	w.require(f, w.as("int", b).Op(op).Add(length))
}

// requireOrder requires how one bound, which is no constant, compares with another one.
func (w *lowering) requireOrder(a bound, op string, b bound) {
	name := ""
	switch {
	case b.constant > math.MaxInt8 && !a.wide:
		name = "int" // types that are smaller may not have the constant
	case b.constant > math.MaxInt8,
		b.constant < 0 && !types.Identical(a.typ, b.typ),
		(a.wide || b.wide) && (!a.isUnsigned() || !b.isUnsigned()):
		name = "uint64"
	}
	text := b.text
	if b.constant >= 0 {
		text = fmt.Sprint(b.constant)
	}
	w.require(fact{text: a.text + " " + op + " " + text}, w.as(name, a).Op(op).Add(w.as(name, b)))
}

// slice returns the code of x[low:high].
func (w *lowering) slice(e *ast.SliceExpr) *jen.Statement {
	_, isPointer := coreOf(w.typ(e.X)).(*types.Pointer)
	if !isPointer && (e.Low == nil || w.constant(e.Low) == 0) && e.High == nil {
		return w.value(e.X).Index(jen.Empty(), jen.Empty())
	}
	pl := w.place(e.X)
	if isPointer {
		w.requireNotNil(pl)
	}
	low := bound{place: place{code: jen.Empty()}} // 0
	if e.Low != nil {
		low = w.bound(e.Low)
	}
	if e.High == nil {
		w.requireWithin(pl, low)
		return pl.operand().Index(low.code, jen.Empty())
	}
	high := w.bound(e.High)
	w.requireSlice(pl, low, high)
	return pl.operand().Index(low.code, high.code)
}

// requireWithin requires that the only bound of a slice is in range.
func (w *lowering) requireWithin(pl place, b bound) {
	if b.constant >= 0 {
		w.requireLen(pl, b.constant)
		return
	}
	w.requireNotNegative(b)
	w.requireBelow(b, "<=", pl)
}

// requireSlice requires that both bounds of a slice are in range: low not negative, high not below it, and the length not
// below that.
func (w *lowering) requireSlice(pl place, low, high bound) {
	if low.constant < 0 && high.constant < 0 && !types.Identical(low.typ, high.typ) {
		low.wide, high.wide = true, true
	}
	switch {
	case low.constant == 0:
		w.requireWithin(pl, high)
	case low.constant > 0 && high.constant >= 0: // the type checker knows their order
		w.requireLen(pl, high.constant)
	case low.constant > 0:
		w.requireOrder(high, ">=", low)
		w.requireBelow(high, "<=", pl)
	case high.constant >= 0:
		w.requireLen(pl, high.constant)
		w.requireNotNegative(low)
		w.requireOrder(low, "<=", high)
	default:
		w.requireNotNegative(low)
		w.requireOrder(low, "<=", high)
		w.requireBelow(high, "<=", pl)
	}
}
