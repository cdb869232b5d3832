package generate

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
)

// fact is a condition by its text, or that a value has at least so many elements.
type fact struct {
	text   string
	length int64 // of the value called text; 0 for a condition
}

// weaker reports whether the fact is that a value has some elements, and another one that the same value has as many or
// more.
func (f fact) weaker(other fact) bool {
	return f.length > 0 && f.text == other.text && f.length <= other.length
}

// facts are known to hold where an expression is evaluated.
type facts struct {
	conditions map[string]bool
	lengths    map[string]int64
}

func newFacts() facts { return facts{conditions: map[string]bool{}, lengths: map[string]int64{}} }

func (k facts) clone() facts { return facts{maps.Clone(k.conditions), maps.Clone(k.lengths)} }

// add reports whether the fact was not known before.
func (k facts) add(f fact) bool {
	if f.length > 0 {
		known := k.lengths[f.text] >= f.length
		k.lengths[f.text] = max(k.lengths[f.text], f.length)
		return !known
	}
	known := k.conditions[f.text]
	k.conditions[f.text] = true
	return !known
}

// assume notes what follows from an expression being true, or false. What it needs to be evaluated holds, too, in the part
// of it that certainly has been.
func (w *lowering) assume(e ast.Expr, value bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			w.assume(e.X, !value)
			return
		}
	case *ast.BinaryExpr:
		switch {
		case e.Op == token.LAND && value, e.Op == token.LOR && !value:
			w.assume(e.X, value)
			w.assume(e.Y, value)
			return
		case e.Op == token.LAND || e.Op == token.LOR:
			return // one of the two, and nobody knows which
		}
		w.assumeComparison(e, value)
	}
	w.value(e)
}

var opposites = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LSS: token.GEQ, token.GEQ: token.LSS,
	token.GTR: token.LEQ, token.LEQ: token.GTR,
}

// assumeComparison notes what a comparison says, in the words of [lowering.require].
func (w *lowering) assumeComparison(e *ast.BinaryExpr, value bool) {
	op, ok := e.Op, opposites[e.Op] != 0
	if !ok {
		return
	}
	if !value {
		op = opposites[op]
	}
	x, y := ast.Unparen(e.X), ast.Unparen(e.Y)
	if w.info.Types[x].IsNil() {
		x, y = y, x
	}
	w.known.add(fact{text: types.ExprString(x) + " " + op.String() + " " + types.ExprString(y)})
	if f, _ := w.atLeast(e, value); f.length > 0 {
		w.known.add(f)
	}
}

// atLeast returns how many elements a value has at least if an expression is true, or false, and whether it says no more
// than that. The length is 0 if it says nothing of the kind.
func (w *lowering) atLeast(e ast.Expr, value bool) (f fact, exact bool) {
	comparison, ok := ast.Unparen(e).(*ast.BinaryExpr)
	if !ok {
		return fact{}, false
	}
	op := comparison.Op
	if !value {
		op = opposites[op]
	}
	call, ok := ast.Unparen(comparison.X).(*ast.CallExpr)
	if !ok || !w.isLen(call) {
		return fact{}, false
	}
	n := w.constant(comparison.Y)
	switch {
	case n < 0:
		return fact{}, false
	case op == token.GTR, op == token.NEQ && n == 0:
		n++
	case op != token.GEQ && op != token.EQL:
		return fact{}, false
	}
	return fact{text: types.ExprString(ast.Unparen(call.Args[0])), length: n}, op != token.EQL
}

func (w *lowering) isLen(call *ast.CallExpr) bool {
	name, ok := ast.Unparen(call.Fun).(*ast.Ident)
	return ok && w.info.Types[call.Fun].IsBuiltin() && name.Name == "len"
}
