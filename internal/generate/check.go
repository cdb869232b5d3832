package generate

import (
	"fmt"
	"go/token"
	"slices"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// checkLimits reports what the method's limits ask for that it cannot give.
func (b *builder) checkLimits(m *method) {
	for i, l := range m.Limits {
		b.checkTold(m, l)
		if m.context.param < 0 {
			b.checkCaller(m, l)
		}
		for _, earlier := range m.Limits[:i] {
			if earlier.Name == l.Name {
				pos := l.Pos + token.Pos(l.Offset("name"))
				b.mistakes.addMethod(pos, fmt.Sprintf("name %q is that of another limit of %%s: want another name=", l.Name), m.name)
				break
			}
		}
	}
	hasFallback := func(l *parse.Limit) bool { return l.Has("fallback") }
	if m.limited() && !m.canRefuse() && !slices.ContainsFunc(m.Limits, hasFallback) {
		b.mistakes.addMethod(m.Limits[0].Pos, "%s cannot be refused: want "+m.wantFirst()+"an error as last result, a fallback=, "+
			"or no limit (//ratelimit:skip or methods=)", m.name)
	}
}

// checkPrivate reports the limits that name a method that is private to another package: only embedding can bring it.
func (b *builder) checkPrivate(iface *parse.Interface, m *parse.Method) {
	i := slices.IndexFunc(m.Limits, func(l *parse.Limit) bool { return !l.MeansAll() })
	if i < 0 {
		return
	}
	fset, pos := b.source.Package.Fset, m.Limits[i].Pos
	if fset.PositionFor(pos, false).Filename == fset.PositionFor(m.Func.Pos(), false).Filename { // there it may well hold
		pos = iface.Object.Pos()
	}
	b.mistakes.addMethod(pos, "%s cannot be limited, being private to "+m.Func.Pkg().Path()+
		": want no limit (methods= with other methods, or //ratelimit:skip)", m.Func.Name())
}

// checkTold reports what would be told to a refused caller where a fallback is called instead, which does not take it.
func (b *builder) checkTold(m *method, l *parse.Limit) {
	if m.fallback == nil || m.fallback.takesErr {
		return
	}
	for _, attr := range []string{"status", "message"} {
		if l.Has(attr) {
			b.mistakes.addMethod(l.Pos+token.Pos(l.Offset(attr)), attr+": no refused caller of %s sees it, since fallback="+
				m.fallback.limit.Fallback+" is called instead: want a last parameter *ratelimit.LimitError there, which has it, or no "+attr, m.name)
		}
	}
}

// checkCaller reports what a method without a context cannot do: read caller attributes, and end a wait.
func (b *builder) checkCaller(m *method, l *parse.Limit) {
	refuse := func(offset int, what, use string) {
		b.mistakes.addMethod(l.Pos+token.Pos(offset), what+": no context to "+use+" in %s: want a context.Context parameter, or one with a "+
			"method Context() context.Context", m.name)
	}
	const read = "read it from"
	for _, attr := range []string{"ip", "by"} {
		if l.Has(attr) && len(l.By) > 0 {
			refuse(l.Offset(attr), attr, read)
		}
	}
	if l.Has("wait") {
		refuse(l.Offset("wait"), "wait", "end it")
	}
	if l.Key == nil {
		return
	}
	for _, part := range l.Key.Parts {
		if part.Caller != "" {
			refuse(part.Offset, partText(part), read)
		}
	}
}
