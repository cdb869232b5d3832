package generate

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/dave/jennifer/jen"
)

// question is what the method tells its guard: statements that come first, and arguments.
type question struct {
	before []jen.Code
	args   []jen.Code
}

// lowering returns a lowering of one of the method's expressions. Its variables are called like none of the taken names.
// What has the context of every call is never nil.
func (m *method) lowering(a ask, p *printer, taken scope) *lowering {
	w := &lowering{expression: a.expression, m: m, p: p, taken: union(taken), known: newFacts(), declared: scope{}, serial: new(int)}
	if a.attr == "skip" {
		w.condition = a.node
	}
	if i := m.context.param; i >= 0 && len(m.context.routes) == 0 {
		w.known.add(fact{text: variable{index: i}.name(m.sig) + " != nil"})
	}
	return w
}

// question turns the expressions of the method's limits into code. Variables that it declares are added to taken.
func (m *method) question(p *printer, taken scope) question {
	var q question
	m.addParts(&q, p, taken)
	for _, a := range m.asks.of("cost") {
		q.add("Cost", a, m.cost(&q, a, p, taken))
	}
	for _, a := range m.asks.of("skip") {
		q.add("SkipIf", a, m.skip(&q, a, p, taken))
	}
	return q
}

func (q *question) add(constructor string, a ask, value *jen.Statement) {
	for _, name := range a.limits {
		q.args = append(q.args, jen.Qual(runtimePath, constructor).Call(jen.Lit(name), value))
	}
}

// keyPart is a part of a key that may be missing.
type keyPart struct {
	variable jen.Code
	steps    []step
	set      jen.Code // the variable, after the steps
}

// addParts adds the parts of keys as arguments: a variable, which stays missing, where something may be nil. Neighbours
// that need the same have it asked once.
func (m *method) addParts(q *question, p *printer, taken scope) {
	var parts []keyPart
	for _, a := range m.asks.of("key") {
		w := m.lowering(a, p, taken)
		arg := w.hole()
		if alwaysPass(w.steps) {
			q.before = append(q.before, w.nest(w.steps)...)
			taken.include(w.declared)
			q.args = append(q.args, arg)
			continue
		}
		name := jen.Id(taken.pick(m.partNames(a)...))
		w = m.lowering(a, p, taken) // whose variables have other names now
		set := jen.Add(name).Op("=").Add(w.hole())
		w.note(w.steps)
		taken.include(w.declared)
		q.args = append(q.args, name)
		parts = append(parts, keyPart{name, w.steps, set})
	}
	for len(parts) > 0 {
		n, _ := shared(parts)
		names := mapEach(n, func(i int) jen.Code { return parts[i].variable })
		q.before = append(q.before, jen.Var().List(names...).Qual(runtimePath, "Arg"))
		q.before = append(q.before, setParts(parts[:n])...)
		parts = parts[n:]
	}
}

// setParts returns the statements that set the variables of parts.
func setParts(parts []keyPart) []jen.Code {
	var statements []jen.Code
	for len(parts) > 0 {
		n, steps := shared(parts)
		then := []jen.Code{parts[0].set}
		if n > 1 {
			inner := slices.Clone(parts[:n])
			for i := range inner {
				inner[i].steps = inner[i].steps[len(steps):]
			}
			then = setParts(inner)
		}
		statements = append(statements, nested(steps, then...)...)
		parts = parts[n:]
	}
	return statements
}

// shared returns the steps that the first part begins with, and as many of those that follow it as possible, and how many
// parts these are.
func shared(parts []keyPart) (n int, steps []step) {
	steps = parts[0].steps
	for n = 1; n < len(parts); n++ {
		same := 0
		for same < min(len(steps), len(parts[n].steps)) && steps[same].isAs(parts[n].steps[same]) {
			same++
		}
		for same > 0 && steps[same-1].condition == nil { // a variable that each asks something else about
			same--
		}
		if same == 0 {
			break
		}
		steps = steps[:same]
	}
	return n, steps
}

// partNames returns names for the variable of a part of a key. The way to the value tells those apart that have different
// ones.
func (m *method) partNames(a ask) []string {
	names := variableNames(a.node)
	sameWay := func(other ask) bool { return other.name != a.name && slices.Equal(variableNames(other.node), names) }
	if slices.ContainsFunc(m.asks.of("key"), sameWay) {
		names = names[:1]
	}
	if names[0] != "part" {
		names = append(names, names[0]+"Part")
	}
	return names
}

// hole returns the expression as what the runtime takes for a part of a key.
func (w *lowering) hole() *jen.Statement {
	t := w.typ(w.node)
	h, _ := holeOf(t)
	var value *jen.Statement
	switch {
	case h.method != "":
		value = w.receiver(h.method)
	case h.param == "" || w.info.Types[w.node].Value != nil && isUntyped(t):
		value = w.value(w.node)
	default:
		value = w.convert(h.param, ast.Unparen(w.node))
	}
	return jen.Qual(runtimePath, h.constructor).Call(value)
}

// receiver returns the code of the expression as a value whose method the runtime calls. It may be that of an embedded
// field.
func (w *lowering) receiver(method string) *jen.Statement {
	t := w.typ(w.node)
	_, index, _ := types.LookupFieldOrMethod(t, true, nil, method)
	r := route{t, index}
	if !r.mayBeNil() {
		return w.value(w.node)
	}
	pl := w.place(w.node)
	w.requireRoute(pl, r)
	return pl.code
}

// convert returns the code of an expression as a value of a predeclared type.
func (w *lowering) convert(name string, e ast.Expr) *jen.Statement {
	if t := types.Unalias(w.typ(e)); t.String() == name || isUntyped(t) {
		return w.value(e)
	}
	if inner := w.widened(e); inner != nil {
		e = inner
	}
	if name == "[]byte" {
		return jen.Index().Add(w.p.predeclared("byte")).Parens(w.value(e))
	}
	return w.p.predeclared(name).Call(w.value(e))
}

// widened returns what an expression converts if that has the same value without the conversion when it becomes a wider
// integer, or nil: x of int64(int(x)), if int has all its values.
func (w *lowering) widened(e ast.Expr) ast.Expr {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || !w.info.Types[call.Fun].IsType() || w.info.Types[e].Value != nil {
		return nil
	}
	from, isBasic := types.Unalias(w.typ(call.Args[0])).(*types.Basic)
	to, toBasic := coreOf(w.typ(e)).(*types.Basic)
	if !isBasic || !toBasic {
		return nil
	}
	smaller := map[types.BasicKind][]types.BasicKind{
		types.Int:  {types.Int8, types.Int16, types.Int32, types.Uint8, types.Uint16},
		types.Uint: {types.Uint8, types.Uint16, types.Uint32},
	}[to.Kind()]
	if !slices.Contains(smaller, from.Kind()) {
		return nil
	}
	return call.Args[0]
}

// cost returns the cost of a call. It is 1, as that of other calls, where a pointer on the path is nil.
func (m *method) cost(q *question, a ask, p *printer, taken scope) *jen.Statement {
	w := m.lowering(a, p, taken)
	value := w.units()
	if alwaysPass(w.steps) && (len(a.limits) == 1 || w.info.Types[w.node].Value != nil) { // a constant may be untyped
		q.before = append(q.before, w.nest(w.steps)...)
		taken.include(w.declared)
		return value
	}
	name := taken.pick("cost")
	w = m.lowering(a, p, taken)
	value = w.units()
	if alwaysPass(w.steps) {
		q.before = append(q.before, w.nest(w.steps, jen.Id(name).Op(":=").Add(value))...)
		taken.include(w.declared)
		return jen.Id(name)
	}
	q.before = append(q.before, jen.Id(name).Op(":=").Add(p.predeclared("int64")).Call(jen.Lit(1)))
	q.before = append(q.before, w.nest(w.steps, jen.Id(name).Op("=").Add(value))...)
	taken.include(w.declared)
	return jen.Id(name)
}

// units returns the expression as a cost. One that is too large for it becomes the largest, and not a negative one.
// Where the target has a min of its own it does, which the runtime refuses.
func (w *lowering) units() *jen.Statement {
	if !mayOverflow(w.typ(w.node)) || w.info.Types[w.node].Value != nil || w.p.hidden("min") {
		return w.convert("int64", w.node)
	}
	largest := jen.Lit(1).Op("<<").Lit(63).Op("-").Lit(1)
	return w.p.predeclared("int64").Call(w.p.predeclared("min").Call(w.convert("uint64", w.node), largest))
}

// skip returns the condition under which limits are not asked. It is false where a pointer on the path is nil.
func (m *method) skip(q *question, a ask, p *printer, taken scope) *jen.Statement {
	w := m.lowering(a, p, taken)
	c, isInline := w.test(w.node, false)
	if isInline && len(a.limits) == 1 && !m.isLong(a, c.code()) {
		return c.code()
	}
	name := taken.pick("skip")
	w = m.lowering(a, p, taken)
	q.before = append(q.before, w.declare(name, w.node)...)
	taken.include(w.declared)
	return jen.Id(name)
}

// isLong reports whether a condition is better read in a line of its own.
func (m *method) isLong(a ask, code *jen.Statement) bool {
	return width(fmt.Sprintf("\t\tratelimit.SkipIf(%q, %s),", a.limits[0], m.decorator.text(code))) > lineWidth
}

// refunds returns the statements that give back what calls have taken.
func (m *method) refunds(p *printer, taken scope) []jen.Code {
	var statements []jen.Code
	for _, a := range m.asks.of("refund") {
		back := make([]jen.Code, len(a.limits))
		for i, name := range a.limits {
			back[i] = jen.Id(m.call).Dot("Refund").Call(jen.Lit(name))
		}
		w := m.lowering(a, p, taken)
		if c, ok := w.test(w.node, false); ok && (len(c.parts) == 1 || width("\tif "+m.decorator.text(c.code())+" {") <= lineWidth) {
			statements = append(statements, jen.If(c.code()).Block(back...))
			continue
		}
		if !w.isLogical(w.node) {
			condition := w.bool(w.node)
			statements = append(statements, w.nest(append(w.steps, step{condition: condition}), back...)...)
			taken.include(w.declared)
			continue
		}
		name := taken.pick("refund")
		w = m.lowering(a, p, taken)
		statements = append(statements, w.declare(name, w.node)...)
		taken.include(w.declared)
		statements = append(statements, jen.If(jen.Id(name)).Block(back...))
	}
	return statements
}
