package generate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/dave/jennifer/jen"
)

// declare returns statements that declare a variable and set it to whether the expression is true.
func (w *lowering) declare(name string, e ast.Expr) []jen.Code {
	if c, ok := w.test(e, false); ok {
		code := c.code()
		if len(c.parts) > 1 && width("\tskip := "+w.m.decorator.text(code)) > lineWidth {
			code = c.lines(w.m.decorator.text)
		}
		return []jen.Code{jen.Id(name).Op(":=").Add(code)}
	}
	if !w.isLogical(e) {
		inner := w.fork()
		if code := inner.bool(e); alwaysPass(inner.steps) {
			return w.nest(inner.steps, jen.Id(name).Op(":=").Add(code))
		}
	}
	if t := w.typ(e); !w.isConverted(e) && !isUntyped(t) && !types.Identical(t, types.Typ[types.Bool]) {
		return append([]jen.Code{jen.Var().Id(name).Add(w.p.typ(t))}, w.assign(name, e, false)...)
	}
	if binary, ok := ast.Unparen(e).(*ast.BinaryExpr); ok && binary.Op == token.LOR && w.isLogical(e) {
		statements := w.declare(name, binary.X)
		w.taken.include(w.declared)
		return append(statements, w.assignRest(name, e, false)...)
	}
	return append([]jen.Code{jen.Var().Id(name).Add(w.p.predeclared("bool"))}, w.assign(name, e, false)...)
}

// assign returns statements that set a variable, which is false before, to true if the expression is true, or if negated
// false, after some steps.
func (w *lowering) assign(name string, e ast.Expr, negated bool, before ...step) []jen.Code {
	set := func(code *jen.Statement) jen.Code { return jen.Id(name).Op("=").Add(code) }
	if c, ok := w.test(e, negated); ok {
		return w.nest(before, set(c.code()))
	}
	if !w.isLogical(e) {
		inner := w.fork()
		code := inner.bool(e)
		return w.nest(slices.Concat(before, inner.steps), set(w.part(e, code, negated).code))
	}
	if not, ok := ast.Unparen(e).(*ast.UnaryExpr); ok {
		return w.assign(name, not.X, !negated, before...)
	}
	binary := ast.Unparen(e).(*ast.BinaryExpr)
	isAnd := (binary.Op == token.LAND) != negated
	if left, ok := w.test(binary.X, negated); ok && isAnd {
		right := w.after(binary.X, !negated)
		return right.assign(name, binary.Y, negated, append(slices.Clone(before), step{condition: left.within(token.LAND)})...)
	}
	statements := w.assign(name, binary.X, negated)
	w.taken.include(w.declared)
	return w.nest(before, append(statements, w.assignRest(name, binary, negated)...)...)
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
	if op == token.LOR {
		return right.assign(name, binary.Y, negated, step{condition: jen.Op("!").Id(name)})
	}
	statements := right.assign(name, binary.Y, negated)
	reset := jen.Id(name).Op("=").Add(w.p.predeclared("false"))
	return []jen.Code{jen.If(jen.Id(name)).Block(append([]jen.Code{reset}, statements...)...)}
}

// nest returns the steps with what is to be done after all of them.
func (w *lowering) nest(steps []step, then ...jen.Code) []jen.Code {
	w.note(steps)
	return nested(steps, then...)
}

// note notes the variables that steps declare for a whole block, and not for an if that asks about them.
func (w *lowering) note(steps []step) {
	for i, s := range steps {
		isAsked := i+1 < len(steps) && steps[i+1].condition != nil
		if s.variable != "" && (s.statements != nil || !isAsked) {
			w.declared.add(s.variable)
		}
	}
}

// alwaysPass reports whether steps ask for nothing.
func alwaysPass(steps []step) bool {
	return !slices.ContainsFunc(steps, func(s step) bool { return s.condition != nil })
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
