package generate

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

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

// words is the fallback as a link of a doc comment.
func (f *fallback) words(d *decorator) string {
	name := f.target.Name()
	switch {
	case f.isMethod:
		name = d.iface.Name + "." + name
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

// fit is whether a function may stand in for the method, which may be of a generic interface.
func (m *method) fit(f *fallback) bool {
	sig, want := f.target.Signature(), m.sig
	if n := sig.Params().Len(); n == m.sig.Params().Len()+1 && isLimitError(sig.Params().At(n-1).Type()) {
		f.takesErr = true
		want = withLast(m.sig, sig.Params().At(n-1))
	}
	if sig.TypeParams().Len() == 0 {
		return types.Identical(sig, want)
	}
	typeArgs := infer(f.target, want)
	if typeArgs == nil {
		return false
	}
	spelled := 0
	for spelled < len(typeArgs) && !slices.EqualFunc(typeArgs, inferFromCall(f.target, typeArgs[:spelled], want), types.Identical) {
		spelled++
	}
	f.typeArgs = typeArgs[:spelled]
	return true
}

func isLimitError(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && isNamed(p.Elem(), runtimePath, "LimitError")
}

// withLast returns a signature with one more parameter. A variadic one that is not last any more is a slice.
func withLast(sig *types.Signature, last *types.Var) *types.Signature {
	params := append(slices.Collect(sig.Params().Variables()), last)
	return types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), sig.Results(), false)
}

// infer returns the type arguments with which a generic function is of a type, or nil.
func infer(fn *types.Func, want *types.Signature) []types.Type {
	take := types.NewSignatureType(nil, nil, nil, types.NewTuple(types.NewParam(token.NoPos, nil, "", want)), nil, false)
	return inferred(fn, []types.Object{types.NewVar(token.NoPos, nil, "take", take)}, func(name *ast.Ident) *ast.CallExpr {
		return &ast.CallExpr{Fun: ast.NewIdent("take"), Args: []ast.Expr{name}}
	})
}

// inferFromCall returns the type arguments of a generic function in a call with arguments of those types that spells the
// first ones out, or nil if they cannot be inferred.
func inferFromCall(fn *types.Func, spelled []types.Type, sig *types.Signature) []types.Type {
	var vars []types.Object
	call := &ast.CallExpr{}
	var typeArgs []ast.Expr
	for i, t := range spelled {
		name := types.NewTypeName(token.NoPos, nil, fmt.Sprintf("T%d", i), nil)
		types.NewAlias(name, t)
		vars, typeArgs = append(vars, name), append(typeArgs, ast.NewIdent(name.Name()))
	}
	for i := range sig.Params().Len() {
		v := types.NewVar(token.NoPos, nil, fmt.Sprintf("arg%d", i), sig.Params().At(i).Type())
		vars, call.Args = append(vars, v), append(call.Args, ast.NewIdent(v.Name()))
	}
	if sig.Variadic() {
		call.Ellipsis = 1
	}
	return inferred(fn, vars, func(name *ast.Ident) *ast.CallExpr {
		call.Fun = name
		if len(typeArgs) > 0 {
			call.Fun = &ast.IndexListExpr{X: name, Indices: typeArgs}
		}
		return call
	})
}

// inferred returns the type arguments that the type checker infers for a generic function in a call that mentions it and
// the variables, or nil if the call has no type.
func inferred(fn *types.Func, vars []types.Object, callOf func(*ast.Ident) *ast.CallExpr) []types.Type {
	pkg := types.NewPackage("infer", "infer")
	for _, v := range vars {
		pkg.Scope().Insert(v)
	}
	alias := types.NewFunc(token.NoPos, fn.Pkg(), "fn", fn.Signature())
	pkg.Scope().Insert(alias)
	name := ast.NewIdent(alias.Name())
	info := &types.Info{Instances: map[*ast.Ident]types.Instance{}}
	if err := types.CheckExpr(token.NewFileSet(), pkg, token.NoPos, callOf(name), info); err != nil {
		return nil
	}
	return slices.Collect(info.Instances[name].TypeArgs.Types())
}
