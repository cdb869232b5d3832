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
	if call, ok := x.(*ast.CallExpr); ok && w.isLen(call) {
		n := w.constant(y)
		switch {
		case n < 0:
			return
		case op == token.GTR, op == token.NEQ && n == 0:
			n++
		case op != token.GEQ && op != token.EQL:
			return
		}
		if n > 0 {
			w.known.add(fact{text: types.ExprString(ast.Unparen(call.Args[0])), length: n})
		}
	}
}

func (w *lowering) isLen(call *ast.CallExpr) bool {
	name, ok := ast.Unparen(call.Fun).(*ast.Ident)
	return ok && w.info.Types[call.Fun].IsBuiltin() && name.Name == "len"
}
