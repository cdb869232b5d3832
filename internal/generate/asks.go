package generate

import (
	"maps"
	"slices"
	"strings"

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
