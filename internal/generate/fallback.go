package generate

import (
	"go/types"

	"github.com/dave/jennifer/jen"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// fallback is what is called instead of refusing: a method of the decorated value, or a function.
type fallback struct {
	limit    *parse.Limit // that has it
	target   *types.Func
	isMethod bool
	typeArgs []types.Type // that a call of a generic function must spell out
	takesErr bool         // whether it takes the *LimitError, too
}

// canRefuse reports whether a caller of the method learns of a refusal. Where it does not, the fallback is called for all
// that keeps a call from being passed on.
func (m *method) canRefuse() bool { return m.shape != cannotRefuse }

// function returns the function that is called, or nil for a method.
func (f *fallback) function(p *printer) *jen.Statement {
	if f == nil || f.isMethod {
		return nil
	}
	code := p.object(f.target)
	if code == nil {
		p.problems = append(p.problems, p.obstacle(f.target))
		return nil
	}
	return code.Types(mapEach(len(f.typeArgs), func(i int) jen.Code { return p.typ(f.typeArgs[i]) })...)
}

// problem returns why the target cannot call the function, or "".
func (f *fallback) problem(p *printer) string {
	f.function(p)
	if len(p.problems) == 0 {
		return ""
	}
	defer func() { p.problems = nil }()
	return p.problems[0]
}

// words is the fallback as a link of a doc comment.
func (f *fallback) words(d *decorator) string {
	name := f.target.Name()
	switch {
	case f.isMethod:
		name = d.ifaceName() + "." + name
	case !d.printer.isLocal(f.target.Pkg()):
		name = d.imports.names[f.target.Pkg().Path()] + "." + name
	}
	return "[" + name + "]"
}

// fallBack calls the fallback instead of refusing. It is nothing for a method without one.
func (m *method) fallBack() []jen.Code {
	f := m.fallback
	if f == nil {
		return nil
	}
	limitErr := jen.Op("*").Qual(runtimePath, "LimitError")
	asType := jen.Qual("errors", "AsType").Types(limitErr).Call(jen.Id(m.err))
	switch {
	case m.canRefuse() && f.takesErr:
		return []jen.Code{jen.If(jen.List(jen.Id(m.limitErr), jen.Id(m.ok)).Op(":=").Add(asType), jen.Id(m.ok)).Block(m.callFallback()...)}
	case m.canRefuse():
		isLimited := jen.Qual("errors", "Is").Call(jen.Id(m.err), jen.Qual(runtimePath, "ErrLimited"))
		return []jen.Code{jen.If(isLimited).Block(m.callFallback()...)}
	case f.takesErr:
		taken := jen.List(jen.Id(m.limitErr), jen.Id("_")).Op(":=").Add(asType).Comment("nil if the limiter cannot tell")
		return append([]jen.Code{taken}, m.callFallback()...)
	}
	return m.callFallback()
}

func (m *method) callFallback() []jen.Code {
	f := m.fallback
	fun := f.function(m.decorator.printer)
	if f.isMethod {
		fun = jen.Id(m.decorator.receiver).Dot(m.decorator.next).Dot(f.target.Name())
	}
	args := mapEach(len(m.params), func(i int) jen.Code {
		if f.target.Signature().Variadic() && i == len(m.params)-1 {
			return jen.Id(m.params[i]).Op("...")
		}
		return jen.Id(m.params[i])
	})
	if f.takesErr {
		args = append(args, jen.Id(m.limitErr))
	}
	call := fun.Call(args...)
	if m.sig.Results().Len() > 0 {
		return []jen.Code{jen.Return(call)}
	}
	return []jen.Code{call, jen.Return()}
}
