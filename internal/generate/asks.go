package generate

import (
	"slices"
	"strings"

	"github.com/ratelimitgen/ratelimitgen/annotations"
	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// asks are the expressions of a method's limits: parts of keys in the order in which the limits name them first, and the
// others in the order of the limits.
type asks []ask

// ask is an expression, and the names of the limits that it is for, which have it in one attribute.
type ask struct {
	*expression
	limits []string
	name   string // of a part of a key, to the runtime
}

// asks checks the expressions of the method's limits. One that has mistakes is missing from the result.
func (b *builder) asks(m *method) asks {
	var found asks
	add := func(l *parse.Limit, attr string, source *annotations.Expr) {
		if source == nil {
			return
		}
		known := found.find(attr, source)
		if known == nil {
			e := b.expression(m, l, attr, source)
			if e == nil {
				return
			}
			found = append(found, ask{expression: e, name: found.partName(e.text)})
			known = &found[len(found)-1]
		}
		known.limits = append(known.limits, l.Name)
	}
	for _, l := range m.Limits {
		if l.Key != nil {
			for _, part := range l.Key.Parts {
				add(l, "key", part.Expr)
			}
		}
		add(l, "cost", l.CostExpr)
		add(l, "skip", l.Skip)
		add(l, "refund", l.Refund)
	}
	return found
}

// of returns the expressions of an attribute.
func (as asks) of(attr string) []ask {
	return slices.DeleteFunc(slices.Clone(as), func(a ask) bool { return a.attr != attr })
}

// find returns the expression of an attribute with the text that the source has, or nil.
func (as asks) find(attr string, source *annotations.Expr) *ask {
	text := exprText(source)
	i := slices.IndexFunc(as, func(a ask) bool { return a.attr == attr && a.text == text })
	if i < 0 {
		return nil
	}
	return &as[i]
}

// partName returns the name of a part to the runtime: its text, but without braces, and not that of another part.
func (as asks) partName(text string) string {
	name := strings.NewReplacer("{", "(", "}", ")").Replace(text)
	for slices.ContainsFunc(as, func(a ask) bool { return a.attr == "key" && a.name == name }) {
		name += "'"
	}
	return name
}
