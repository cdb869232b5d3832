package generate

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"
)

// body returns the statements of the method: the question to the guard, what becomes of a refused call, and the call.
func (m *method) body() []jen.Code {
	switch {
	case !m.limited():
		return []jen.Code{m.forward()}
	case !m.begins():
		return append(m.allow(), m.forward())
	}
	statements := append(m.begin(), jen.Defer().Id(m.call).Dot("End").Call())
	statements = append(statements, m.holdContext()...)
	if !m.refundable() {
		return append(statements, m.forward())
	}
	statements = append(statements, m.callNext())
	statements = append(statements, m.refunds(m.decorator.printer, m.locals)...)
	if len(m.results) > 0 {
		statements = append(statements, jen.Return(mapEach(len(m.results), func(i int) jen.Code { return jen.Id(m.results[i]) })...))
	}
	return statements
}

// allow asks the guard by Allow.
func (m *method) allow() []jen.Code {
	q := m.question(m.decorator.printer, m.locals)
	asked := m.ask("Allow", q.args)
	return append(slices.Concat(m.readContext(), q.before), jen.If(jen.Id(m.err).Op(":=").Add(asked), m.refused()).Block(m.refusal()...))
}

// begin asks the guard by Begin.
func (m *method) begin() []jen.Code {
	q := m.question(m.decorator.printer, m.locals)
	return append(slices.Concat(m.readContext(), q.before),
		jen.List(jen.Id(m.call), jen.Id(m.err)).Op(":=").Add(m.ask("Begin", q.args)),
		jen.If(m.refused()).Block(m.refusal()...),
	)
}

func (m *method) refused() *jen.Statement { return jen.Id(m.err).Op("!=").Nil() }

// ask is the question to the guard, its arguments on lines of their own if they are too wide for one.
func (m *method) ask(how string, args []jen.Code) *jen.Statement {
	d := m.decorator
	args = append([]jen.Code{m.contextArg()}, args...)
	fun := jen.Id(m.decorator.receiver).Dot(m.guard).Dot(how)
	call := jen.Add(fun).Call(args...)
	text := fmt.Sprintf("\tif %s := %s; %[1]s != nil {", m.err, d.text(call))
	if m.begins() {
		text = fmt.Sprintf("\t%s, %s := %s", m.call, m.err, d.text(call))
	}
	if width(text) <= lineWidth {
		return call
	}
	return fun.Add(lines(args...))
}

// refusal returns the statements for a refused call.
func (m *method) refusal() []jen.Code {
	statements := m.fallBack()
	if !m.canRefuse() {
		return statements
	}
	if m.answers() {
		statements = append(statements, m.answer()...)
	}
	if m.shape == answers {
		return append(statements, jen.Return())
	}
	values := []jen.Code{}
	for _, z := range m.zeros {
		if z.declared != nil {
			statements = append(statements, z.declared)
		}
		values = append(values, z.value)
	}
	return append(statements, jen.Return(append(values, jen.Id(m.err))...))
}

// forward passes the call on and returns its results.
func (m *method) forward() *jen.Statement {
	if m.sig.Results().Len() > 0 {
		return jen.Return(m.next())
	}
	return m.next()
}

// callNext passes the call on and keeps its results in variables.
func (m *method) callNext() *jen.Statement {
	switch {
	case len(m.results) == 0:
		return m.next()
	case len(m.results) == 1 && m.results[0] == m.err: // which is there already
		return jen.Id(m.err).Op("=").Add(m.next())
	}
	return jen.List(mapEach(len(m.results), func(i int) jen.Code { return jen.Id(m.results[i]) })...).Op(":=").Add(m.next())
}

// next is the call of the decorated method.
func (m *method) next() *jen.Statement {
	return jen.Id(m.decorator.receiver).Dot(m.decorator.next).Dot(m.name).Call(m.args()...)
}

// args are the parameters as arguments.
func (m *method) args() []jen.Code {
	return mapEach(len(m.params), func(i int) jen.Code {
		if held := m.heldContext(i); held != nil && !m.mayLackContext() {
			return held
		}
		arg := jen.Id(m.params[i])
		if m.sig.Variadic() && i == len(m.params)-1 {
			arg.Op("...")
		}
		return arg
	})
}
