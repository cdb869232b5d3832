package generate

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

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
