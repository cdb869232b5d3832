package generate

import (
	"go/ast"
	"go/token"
	"slices"

	"github.com/dave/jennifer/jen"
)

// A condition made of others by &&, || and ! is one for as long as Go would go on evaluating it. Where one of the others
// meets a nil pointer, neither it nor its negation holds.

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
	if c, ok := w.condition(e, false); ok {
		return c.code
	}
	name := w.taken.pick("ok")
	declared := jen.Var().Id(name).Add(w.p.predeclared("bool"))
	w.steps = append(w.steps, step{statements: append([]jen.Code{declared}, w.assign(name, e, false)...)})
	return jen.Id(name)
}

// dual returns the operator of a negation's parts: !(a && b) is !a || !b.
func dual(op token.Token) token.Token {
	if op == token.LAND {
		return token.LOR
	}
	return token.LAND
}

// condition is the code of one.
type condition struct {
	code  *jen.Statement
	op    token.Token // LAND or LOR if that is its outermost operator
	total bool        // whether it needs no steps
}

// within returns the code as an operand.
func (c condition) within(op token.Token) *jen.Statement {
	if op == token.LAND && c.op == token.LOR {
		return jen.Parens(c.code)
	}
	return c.code
}

// condition returns the code for "the expression is true", or if negated "it is false", with what it needs written into it.
// It reports false if that cannot be, since there are variables to declare.
func (w *lowering) condition(e ast.Expr, negated bool) (condition, bool) {
	if code, ok := w.plain(e); ok {
		return negate(e, code, negated), true
	}
	if !isLogical(e) {
		return w.leaf(e, negated)
	}
	if not, ok := ast.Unparen(e).(*ast.UnaryExpr); ok {
		return w.condition(not.X, !negated)
	}
	binary := ast.Unparen(e).(*ast.BinaryExpr)
	op := binary.Op
	if negated {
		op = dual(op)
	}
	left, ok := w.condition(binary.X, negated)
	if !ok {
		return condition{}, false
	}
	right, ok := w.behind(binary.X, negated, op, left.total).condition(binary.Y, negated)
	return condition{code: jen.Add(left.within(op)).Op(op.String()).Add(right.within(op)), op: op}, ok
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
	if !isLogical(e) {
		inner := w.fork()
		code := inner.value(e)
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

// negate returns the code of an expression that needs nothing as a condition, negated or not.
func negate(e ast.Expr, code *jen.Statement, negated bool) condition {
	c := condition{code: code, total: true}
	binary, ok := e.(*ast.BinaryExpr)
	if ok && isLogical(e) {
		c.op = binary.Op
	}
	switch {
	case !negated:
		return c
	case ok:
		return condition{code: jen.Op("!").Parens(code), total: true}
	}
	return condition{code: jen.Op("!").Add(code), total: true}
}

// leaf returns a condition that is not made of others, behind what it needs.
func (w *lowering) leaf(e ast.Expr, negated bool) (condition, bool) {
	inner := w.fork()
	code := inner.value(e)
	if slices.ContainsFunc(inner.steps, func(s step) bool { return s.condition == nil }) {
		return condition{}, false
	}
	all := jen.Null()
	for _, s := range inner.steps {
		all.Add(s.condition).Op("&&")
	}
	return condition{code: all.Add(negate(e, code, negated).code), op: token.LAND}, true
}

// assign returns statements that set a variable, which is false before, to true if the expression is true, or if negated
// false.
func (w *lowering) assign(name string, e ast.Expr, negated bool) []jen.Code {
	if c, ok := w.condition(e, negated); ok {
		return []jen.Code{jen.Id(name).Op("=").Add(c.code)}
	}
	if !isLogical(e) {
		inner := w.fork()
		code := inner.value(e)
		return nested(inner.steps, jen.Id(name).Op("=").Add(negate(e, code, negated).code))
	}
	if not, ok := ast.Unparen(e).(*ast.UnaryExpr); ok {
		return w.assign(name, not.X, !negated)
	}
	binary := ast.Unparen(e).(*ast.BinaryExpr)
	op := binary.Op
	if negated {
		op = dual(op)
	}
	left, isInline := w.condition(binary.X, negated)
	right := w.behind(binary.X, negated, op, left.total)
	if isInline && op == token.LAND {
		return []jen.Code{jen.If(left.code).Block(right.assign(name, binary.Y, negated)...)}
	}
	statements := w.assign(name, binary.X, negated)
	second, isSecond := right.condition(binary.Y, negated)
	switch {
	case isSecond:
		return append(statements, jen.Id(name).Op("=").Id(name).Op(op.String()).Add(second.within(op)))
	case op == token.LOR:
		return append(statements, jen.If(jen.Op("!").Id(name)).Block(right.assign(name, binary.Y, negated)...))
	}
	reset := jen.Id(name).Op("=").Add(w.p.predeclared("false"))
	return append(statements, jen.If(jen.Id(name)).Block(append([]jen.Code{reset}, right.assign(name, binary.Y, negated)...)...))
}

// nested returns the steps with what is to be done after all of them.
func nested(steps []step, then ...jen.Code) []jen.Code {
	if len(steps) == 0 {
		return then
	}
	if first := steps[0]; first.statements != nil {
		return append(slices.Clone(first.statements), nested(steps[1:], then...)...)
	}
	var head []jen.Code
	if first := steps[0]; first.condition == nil {
		head = []jen.Code{jen.Id(first.variable).Op(":=").Add(first.value)}
		steps = steps[1:]
	}
	conditions := jen.Null()
	n := 0
	for n < len(steps) && steps[n].condition != nil {
		if n > 0 {
			conditions.Op("&&")
		}
		conditions.Add(steps[n].condition)
		n++
	}
	if n == 0 { // a variable that nothing is asked about
		return append(head, nested(steps, then...)...)
	}
	return []jen.Code{jen.If(append(head, conditions)...).Block(nested(steps[n:], then...)...)}
}
