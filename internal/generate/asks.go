package generate

import (
	"go/ast"
	"maps"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/ratelimitgen/ratelimitgen/annotations"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// asks are the expressions of a method's limits, those with one text being one.
type asks struct {
	parts   []*expression          // of keys, in the order in which the limits name them first
	names   map[string]string      // of parts to the runtime, by their texts
	known   map[string]*expression // all, by attribute and text
	costs   []ask
	skips   []ask
	refunds []ask
}

// ask is an expression, and the names of the limits that it is for.
type ask struct {
	*expression
	limits []string
}

// asks checks the expressions of the method's limits. One that has mistakes is missing from the result.
func (b *builder) asks(m *method) asks {
	found := asks{names: map[string]string{}, known: map[string]*expression{}}
	check := func(l *parse.Limit, attr string, source *annotations.Expr) (e *expression, isNew bool) {
		at := askKey(attr, source)
		if e := found.known[at]; e != nil { // or else its mistakes are reported here, too
			return e, false
		}
		found.known[at] = b.expression(m, l, attr, source)
		return found.known[at], true
	}
	add := func(to *[]ask, l *parse.Limit, attr string, source *annotations.Expr) {
		if source == nil {
			return
		}
		e, isNew := check(l, attr, source)
		if isNew && e != nil {
			*to = append(*to, ask{expression: e})
		}
		for i := range *to {
			if (*to)[i].expression == e {
				(*to)[i].limits = append((*to)[i].limits, l.Name)
			}
		}
	}
	for _, l := range m.Limits {
		if l.Key != nil {
			for _, part := range l.Key.Parts {
				if part.Expr == nil {
					continue
				}
				if e, isNew := check(l, "key", part.Expr); isNew && e != nil {
					found.parts = append(found.parts, e)
					found.name(e.text)
				}
			}
		}
		add(&found.costs, l, "cost", l.CostExpr)
		add(&found.skips, l, "skip", l.Skip)
		add(&found.refunds, l, "refund", l.Refund)
	}
	return found
}

// each returns asks of one expression each.
func (a *asks) each() []asks {
	var each []asks
	for _, e := range a.parts {
		each = append(each, asks{parts: []*expression{e}})
	}
	for i := range a.costs {
		each = append(each, asks{costs: a.costs[i : i+1]})
	}
	for i := range a.skips {
		each = append(each, asks{skips: a.skips[i : i+1]})
	}
	for i := range a.refunds {
		each = append(each, asks{refunds: a.refunds[i : i+1]})
	}
	return each
}

// first returns an expression, of which there must be one.
func (a *asks) first() *expression {
	for _, some := range [][]ask{a.costs, a.skips, a.refunds} {
		if len(some) > 0 {
			return some[0].expression
		}
	}
	return a.parts[0]
}

func askKey(attr string, source *annotations.Expr) string { return attr + ":" + exprText(source) }

// name gives a part a name of its own, without braces.
func (a *asks) name(text string) {
	name := strings.NewReplacer("{", "(", "}", ")").Replace(text)
	for slices.Contains(slices.Collect(maps.Values(a.names)), name) {
		name += "'"
	}
	a.names[text] = name
}

// question is what the method tells its guard: statements that come first, and arguments.
type question struct {
	before []jen.Code
	args   []jen.Code
}

// lowering returns a lowering of one of the method's expressions. Its variables are called like none of the taken names.
func (m *method) lowering(e *expression, p *printer, taken scope) *lowering {
	return &lowering{expression: e, m: m, p: p, taken: union(taken), known: newFacts()}
}

// question turns the expressions of the method's limits into code. Variables that it declares are added to taken.
func (m *method) question(p *printer, taken scope) question {
	var q question
	m.addParts(&q, p, taken)
	for _, a := range m.asks.costs {
		q.add("Cost", a, m.cost(&q, a, p, taken))
	}
	for _, a := range m.asks.skips {
		q.add("SkipIf", a, m.skip(&q, a, p, taken))
	}
	return q
}

func (q *question) add(constructor string, a ask, value *jen.Statement) {
	for _, name := range a.limits {
		q.args = append(q.args, jen.Qual(runtimePath, constructor).Call(jen.Lit(name), value))
	}
}

// addParts adds the parts of keys as arguments: a variable, which stays missing, where something may be nil. Neighbours
// that need the same have it asked once.
func (m *method) addParts(q *question, p *printer, taken scope) {
	type group struct {
		names  []jen.Code
		steps  []step
		asked  string // the text of the steps, "" if they declare variables
		assign []jen.Code
	}
	var groups []group
	for _, e := range m.asks.parts {
		w := m.lowering(e, p, taken)
		arg := w.hole()
		if len(w.steps) == 0 {
			q.args = append(q.args, arg)
			continue
		}
		base := variableName(e.node)
		name := jen.Id(taken.pick(base, base+"Part"))
		w = m.lowering(e, p, taken) // whose variables have other names now
		assign := jen.Add(name).Op("=").Add(w.hole())
		q.args = append(q.args, name)
		asked := textOf(w.steps)
		if n := len(groups); n > 0 && asked != "" && groups[n-1].asked == asked {
			groups[n-1].names = append(groups[n-1].names, name)
			groups[n-1].assign = append(groups[n-1].assign, assign)
			continue
		}
		groups = append(groups, group{[]jen.Code{name}, w.steps, asked, []jen.Code{assign}})
	}
	for _, g := range groups {
		q.before = append(q.before, jen.Var().List(g.names...).Qual(runtimePath, "Arg"))
		q.before = append(q.before, nested(g.steps, g.assign...)...)
	}
}

// textOf tells steps that only ask apart. It is "" for others.
func textOf(steps []step) string {
	text := ""
	for _, s := range steps {
		if s.condition == nil {
			return ""
		}
		text += s.text + "\n"
	}
	return text
}

// hole returns the expression as what the runtime takes for a part of a key.
func (w *lowering) hole() *jen.Statement {
	t := w.typ(w.node)
	h, _ := holeOf(t)
	var value *jen.Statement
	switch {
	case h.param == "" && isNilable(t):
		pt := w.place(w.node)
		w.requireNotNil(pt)
		value = pt.code
	case h.param == "" || w.info.Types[w.node].Value != nil && isUntyped(t):
		value = w.value(w.node)
	default:
		value = w.convert(h.param, ast.Unparen(w.node))
	}
	return jen.Qual(runtimePath, h.constructor).Call(value)
}

// convert returns the code of an expression as a value of a predeclared type.
func (w *lowering) convert(name string, e ast.Expr) *jen.Statement {
	if t := w.typ(e); t.String() == name || isUntyped(t) {
		return w.value(e)
	}
	if name == "[]byte" {
		return jen.Index().Add(w.p.predeclared("byte")).Parens(w.value(e))
	}
	return w.p.predeclared(name).Call(w.value(e))
}

// cost returns the cost of a call. It is 1, as that of other calls, where a pointer on the path is nil.
func (m *method) cost(q *question, a ask, p *printer, taken scope) *jen.Statement {
	w := m.lowering(a.expression, p, taken)
	value := w.convert("int64", w.node)
	if len(w.steps) == 0 && len(a.limits) == 1 {
		return value
	}
	name := taken.pick("cost")
	w = m.lowering(a.expression, p, taken)
	value = w.convert("int64", w.node)
	if len(w.steps) == 0 {
		q.before = append(q.before, jen.Id(name).Op(":=").Add(value))
		return jen.Id(name)
	}
	q.before = append(q.before, jen.Id(name).Op(":=").Add(p.predeclared("int64")).Call(jen.Lit(1)))
	q.before = append(q.before, nested(w.steps, jen.Id(name).Op("=").Add(value))...)
	return jen.Id(name)
}

// skip returns the condition under which limits are not asked. It is false where a pointer on the path is nil.
func (m *method) skip(q *question, a ask, p *printer, taken scope) *jen.Statement {
	w := m.lowering(a.expression, p, taken)
	c, isInline := w.condition(w.node, false)
	if isInline && len(a.limits) == 1 && !m.isLong(c.code) {
		return c.code
	}
	name := taken.pick("skip")
	if isInline {
		q.before = append(q.before, jen.Id(name).Op(":=").Add(c.code))
		return jen.Id(name)
	}
	w = m.lowering(a.expression, p, taken)
	q.before = append(q.before, jen.Var().Id(name).Add(p.predeclared("bool")))
	q.before = append(q.before, w.assign(name, w.node, false)...)
	return jen.Id(name)
}

// isLong reports whether a condition is better read in a line of its own.
func (m *method) isLong(code *jen.Statement) bool {
	return len("        ratelimit.SkipIf(, ),")+len(m.Limits[0].Name)+len(m.decorator.text(code)) > lineWidth
}

// refunds returns the statements that give back what calls have taken.
func (m *method) refunds(p *printer, taken scope) []jen.Code {
	var statements []jen.Code
	for _, a := range m.asks.refunds {
		back := make([]jen.Code, len(a.limits))
		for i, name := range a.limits {
			back[i] = jen.Id(m.call).Dot("Refund").Call(jen.Lit(name))
		}
		w := m.lowering(a.expression, p, taken)
		if c, ok := w.condition(w.node, false); ok {
			statements = append(statements, jen.If(c.code).Block(back...))
			continue
		}
		if !isLogical(w.node) {
			condition := w.value(w.node)
			statements = append(statements, nested(append(w.steps, step{condition: condition}), back...)...)
			continue
		}
		name := taken.pick("refund")
		w = m.lowering(a.expression, p, taken)
		statements = append(statements, jen.Var().Id(name).Add(p.predeclared("bool")))
		statements = append(statements, w.assign(name, w.node, false)...)
		statements = append(statements, jen.If(jen.Id(name)).Block(back...))
	}
	return statements
}
