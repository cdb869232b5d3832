package generate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/dave/jennifer/jen"
)

// isLogical reports whether an expression is made of conditions.
func isLogical(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		return e.Op == token.NOT && isLogical(e.X)
	case *ast.BinaryExpr:
		return e.Op == token.LAND || e.Op == token.LOR
	}
	return false
}

// isLogical reports whether an expression is made of conditions of type bool. Those of another type are values, which are
// converted as a whole.
func (w *lowering) isLogical(e ast.Expr) bool { return isLogical(e) && !w.isConverted(e) }

func (w *lowering) isConverted(e ast.Expr) bool {
	t := w.typ(e)
	return e == w.condition && !isUntyped(t) && !types.Identical(t, types.Typ[types.Bool])
}

// bool returns the code of an expression that is not logical, as a bool.
func (w *lowering) bool(e ast.Expr) *jen.Statement {
	if !w.isConverted(e) {
		return w.value(e)
	}
	w.condition = nil
	defer func() { w.condition = e }()
	return w.p.predeclared("bool").Call(w.value(e))
}

// fork returns a lowering for a part of the expression that may not be evaluated.
func (w *lowering) fork() *lowering {
	inner := *w
	inner.steps = nil
	inner.known = w.known.clone()
	inner.taken = union(w.taken)
	return &inner
}

// after returns a lowering for the right side of && or ||, which is evaluated if the left one is true, or false.
func (w *lowering) after(left ast.Expr, value bool) *lowering {
	right := w.fork()
	right.assume(left, value)
	right.steps = nil
	return right
}

// logical returns the code of a condition made of others, as a value.
func (w *lowering) logical(e ast.Expr) *jen.Statement {
	if c, ok := w.test(e, false); ok {
		return c.code()
	}
	name := w.taken.pick("ok")
	w.steps = append(w.steps, step{variable: name, statements: w.declare(name, e)})
	return jen.Id(name)
}

// dual returns the operator of a negation's parts: !(a && b) is !a || !b.
func dual(op token.Token) token.Token {
	if op == token.LAND {
		return token.LOR
	}
	return token.LAND
}

// condition is the code of a bool that may be made of others by &&, || and !. One of those that meets a nil pointer
// does not hold, and neither does its negation.
type condition struct {
	op    token.Token // LAND or LOR between the parts, if there are several
	parts []part
	total bool // whether it needs no steps
}

// part is an operand of a condition.
type part struct {
	code *jen.Statement
	says fact       // what it says of a length, if no more
	made *condition // of which its code is made, nil if of none
}

// code returns the parts in one line.
func (c condition) code() *jen.Statement {
	code := jen.Add(c.parts[0].code)
	for _, p := range c.parts[1:] {
		code.Op(c.op.String()).Add(p.code)
	}
	return code
}

// lines returns the parts with each on a line of its own, or on several if that is too wide.
func (c condition) lines(text func(*jen.Statement) string) *jen.Statement {
	code := jen.Null()
	for i, p := range c.parts {
		if i > 0 {
			code.Op(c.op.String()).Line()
		}
		switch {
		case p.made == nil || width("\t\t("+text(p.code)+") &&") <= lineWidth:
			code.Add(p.code)
		case p.made.needsParens(c.op):
			code.Parens(p.made.lines(text))
		default:
			code.Add(p.made.lines(text))
		}
	}
	return code
}

// needsParens reports whether the condition is in parentheses as an operand of op.
func (c condition) needsParens(op token.Token) bool {
	return len(c.parts) > 1 && c.op == token.LOR && op == token.LAND
}

// operands returns the parts that the condition has as an operand of op.
func (c condition) operands(op token.Token) []part {
	switch {
	case c.op == op || len(c.parts) == 1:
		return c.parts
	case c.needsParens(op):
		return []part{{code: jen.Parens(c.code()), made: &c}}
	}
	return []part{{code: c.code(), made: &c}}
}

// within returns the code as an operand of op.
func (c condition) within(op token.Token) *jen.Statement {
	return condition{op: op, parts: c.operands(op)}.code()
}

// combine returns two conditions as one. What one says of a length is left out where the next one says more of it.
func combine(left condition, op token.Token, right condition) condition {
	first, second := left.operands(op), right.operands(op)
	if last := first[len(first)-1]; op == token.LAND && last.says.weaker(second[0].says) {
		first = first[:len(first)-1]
	}
	return condition{op: op, parts: slices.Concat(first, second), total: left.total && right.total}
}

// test returns the code for "the expression is true", or if negated "it is false", with what it needs written into it.
// It reports false if that cannot be, since there are variables to declare.
func (w *lowering) test(e ast.Expr, negated bool) (condition, bool) {
	if _, ok := e.(*ast.BinaryExpr); !ok || !w.isLogical(e) || negated {
		if code, ok := w.plain(e); ok {
			return condition{parts: []part{w.part(e, code, negated)}, total: true}, true
		}
	}
	if !w.isLogical(e) {
		return w.leaf(e, negated)
	}
	if not, ok := ast.Unparen(e).(*ast.UnaryExpr); ok {
		return w.test(not.X, !negated)
	}
	binary := ast.Unparen(e).(*ast.BinaryExpr)
	op := binary.Op
	if negated {
		op = dual(op)
	}
	left, ok := w.test(binary.X, negated)
	if !ok {
		return condition{}, false
	}
	right, ok := w.behind(binary.X, negated, op, left.total).test(binary.Y, negated)
	if !ok {
		return condition{}, false
	}
	return combine(left, op, right), true
}

// behind returns a lowering for what follows a condition and the operator op. If the condition has not been found to hold,
// it is false only if it was one to begin with.
func (w *lowering) behind(e ast.Expr, negated bool, op token.Token, total bool) *lowering {
	switch {
	case op == token.LAND:
		return w.after(e, !negated)
	case total:
		return w.after(e, negated)
	}
	return w.fork()
}

// plain returns an expression as the directive has it, and whether it needs nothing.
func (w *lowering) plain(e ast.Expr) (*jen.Statement, bool) {
	if !w.isLogical(e) {
		inner := w.fork()
		code := inner.bool(e)
		return code, len(inner.steps) == 0
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		code, ok := w.plain(e.X)
		return jen.Parens(code), ok
	case *ast.UnaryExpr:
		code, ok := w.plain(e.X)
		return jen.Op("!").Add(code), ok
	case *ast.BinaryExpr:
		left, ok := w.plain(e.X)
		if !ok {
			return nil, false
		}
		right, ok := w.after(e.X, e.Op == token.LAND).plain(e.Y)
		return jen.Add(left).Op(e.Op.String()).Add(right), ok
	}
	return nil, false
}

// part returns the code of an expression, which is not made of others unless negated, as a part of a condition.
func (w *lowering) part(e ast.Expr, code *jen.Statement, negated bool) part {
	says, exact := w.atLeast(e, !negated)
	if !exact {
		says = fact{}
	}
	if !negated {
		return part{code: code, says: says}
	}
	if _, ok := e.(*ast.BinaryExpr); ok {
		code = jen.Parens(code)
	}
	return part{code: jen.Op("!").Add(code), says: says}
}

// leaf returns a condition that is not made of others, behind what it needs.
func (w *lowering) leaf(e ast.Expr, negated bool) (condition, bool) {
	inner := w.fork()
	code := inner.bool(e)
	c := condition{op: token.LAND}
	for _, s := range inner.steps {
		if s.condition == nil {
			return condition{}, false
		}
		c.parts = append(c.parts, part{code: s.condition, says: s.fact})
	}
	c.parts = append(c.parts, w.part(e, code, negated))
	return c, true
}
