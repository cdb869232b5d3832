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
		return c.code
	}
	name := w.taken.pick("ok")
	w.steps = append(w.steps, step{statements: w.declare(name, e)})
	return jen.Id(name)
}

// dual returns the operator of a negation's parts: !(a && b) is !a || !b.
func dual(op token.Token) token.Token {
	if op == token.LAND {
		return token.LOR
	}
	return token.LAND
}

// condition is the code of a bool that may be made of others by &&, || and !. One of those that meets a nil pointer does not
// hold, and neither does its negation.
type condition struct {
	code  *jen.Statement
	op    token.Token      // LAND or LOR if that is its outermost operator
	parts []*jen.Statement // the operands of op
	total bool             // whether it needs no steps
}

// lines returns the code with each operand on a line of its own.
func (c condition) lines() *jen.Statement {
	code := jen.Add(c.parts[0])
	for _, part := range c.parts[1:] {
		code.Op(c.op.String()).Line().Add(part)
	}
	return code
}

// operands returns the operands of op that the code is made of.
func (c condition) operands(op token.Token) []*jen.Statement {
	if c.op == op {
		return c.parts
	}
	return []*jen.Statement{c.within(op)}
}

// within returns the code as an operand.
func (c condition) within(op token.Token) *jen.Statement {
	if op == token.LAND && c.op == token.LOR {
		return jen.Parens(c.code)
	}
	return c.code
}

// test returns the code for "the expression is true", or if negated "it is false", with what it needs written into it.
// It reports false if that cannot be, since there are variables to declare.
func (w *lowering) test(e ast.Expr, negated bool) (condition, bool) {
	if _, ok := e.(*ast.BinaryExpr); !ok || !w.isLogical(e) || negated {
		if code, ok := w.plain(e); ok {
			return negate(e, code, negated), true
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
	return condition{
		code:  jen.Add(left.within(op)).Op(op.String()).Add(right.within(op)),
		op:    op,
		parts: slices.Concat(left.operands(op), right.operands(op)),
		total: left.total && right.total,
	}, ok
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

// negate returns the code of an expression that needs nothing, and is not made of others unless negated, as a condition.
func negate(e ast.Expr, code *jen.Statement, negated bool) condition {
	c := condition{code: code, total: true}
	_, ok := e.(*ast.BinaryExpr)
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
	code := inner.bool(e)
	if slices.ContainsFunc(inner.steps, func(s step) bool { return s.condition == nil }) {
		return condition{}, false
	}
	c := condition{code: jen.Null(), op: token.LAND}
	for _, s := range inner.steps {
		c.code.Add(s.condition).Op("&&")
		c.parts = append(c.parts, s.condition)
	}
	last := negate(e, code, negated).code
	c.code.Add(last)
	c.parts = append(c.parts, last)
	return c, true
}

// declare returns statements that declare a variable and set it to whether the expression is true.
func (w *lowering) declare(name string, e ast.Expr) []jen.Code {
	if c, ok := w.test(e, false); ok {
		code := c.code
		if len(c.parts) > 1 && len(w.m.decorator.text(code)) > lineWidth-len("    skip := ") {
			code = c.lines()
		}
		return []jen.Code{jen.Id(name).Op(":=").Add(code)}
	}
	if t := w.typ(e); !w.isConverted(e) && !isUntyped(t) && !types.Identical(t, types.Typ[types.Bool]) {
		return append([]jen.Code{jen.Var().Id(name).Add(w.p.typ(t))}, w.assign(name, e, false)...)
	}
	if left, ok := w.first(e); ok {
		return append([]jen.Code{jen.Id(name).Op(":=").Add(left.code)}, w.assignRest(name, e, false)...)
	}
	return append([]jen.Code{jen.Var().Id(name).Add(w.p.predeclared("bool"))}, w.assign(name, e, false)...)
}

// first returns the left side of an || if that needs no variables.
func (w *lowering) first(e ast.Expr) (condition, bool) {
	if binary, ok := ast.Unparen(e).(*ast.BinaryExpr); ok && binary.Op == token.LOR && w.isLogical(e) {
		return w.test(binary.X, false)
	}
	return condition{}, false
}

// assign returns statements that set a variable, which is false before, to true if the expression is true, or if negated
// false.
func (w *lowering) assign(name string, e ast.Expr, negated bool) []jen.Code {
	set := func(code *jen.Statement) jen.Code { return jen.Id(name).Op("=").Add(code) }
	if c, ok := w.test(e, negated); ok {
		return []jen.Code{set(c.code)}
	}
	if !w.isLogical(e) {
		inner := w.fork()
		code := inner.bool(e)
		return nested(inner.steps, set(negate(e, code, negated).code))
	}
	if not, ok := ast.Unparen(e).(*ast.UnaryExpr); ok {
		return w.assign(name, not.X, !negated)
	}
	binary := ast.Unparen(e).(*ast.BinaryExpr)
	isAnd := (binary.Op == token.LAND) != negated
	if left, ok := w.test(binary.X, negated); ok && isAnd {
		right := w.after(binary.X, !negated)
		return []jen.Code{jen.If(left.code).Block(right.assign(name, binary.Y, negated)...)}
	}
	return append(w.assign(name, binary.X, negated), w.assignRest(name, binary, negated)...)
}

// assignRest returns the statements for the right side of && or ||, where the variable holds the left one.
func (w *lowering) assignRest(name string, e ast.Expr, negated bool) []jen.Code {
	binary := ast.Unparen(e).(*ast.BinaryExpr)
	op := binary.Op
	if negated {
		op = dual(op)
	}
	left, isInline := w.test(binary.X, negated)
	right := w.behind(binary.X, negated, op, isInline && left.total)
	if second, ok := right.test(binary.Y, negated); ok {
		return []jen.Code{jen.Id(name).Op("=").Id(name).Op(op.String()).Add(second.within(op))}
	}
	statements := right.assign(name, binary.Y, negated)
	if op == token.LOR {
		return []jen.Code{jen.If(jen.Op("!").Id(name)).Block(statements...)}
	}
	reset := jen.Id(name).Op("=").Add(w.p.predeclared("false"))
	return []jen.Code{jen.If(jen.Id(name)).Block(append([]jen.Code{reset}, statements...)...)}
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
