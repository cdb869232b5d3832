package main

import (
	"go/types"
	"slices"
)

// Reasons for leaving an interface out.
const (
	isConstraint = "a constraint"
	hasNoMethods = "no methods"
	isUnnameable = "a method's types cannot be named outside"
	hasNoArgs    = "no type arguments can be named outside"
)

// subject is an exported interface.
type subject struct {
	object  *types.TypeName
	reason  string       // why it is left out, "" if it is not
	args    []types.Type // type arguments, where another package cannot declare the same type parameters
	methods int
	limited []*types.Func // methods that can be refused
	others  []*types.Func // methods that can be limited with a fallback
	private bool          // there are methods that only its package can declare
	failure string        // why it has no decorator that compiles, in the words of who found out
}

// subjects returns the exported interfaces of a package, in the order of their names.
func subjects(pkg *types.Package) []*subject {
	var found []*subject
	names := &naming{pkg: pkg}
	for _, name := range pkg.Scope().Names() {
		object, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if ok && object.Exported() && types.IsInterface(object.Type()) {
			found = append(found, newSubject(object, names))
		}
	}
	return found
}

func newSubject(object *types.TypeName, names *naming) *subject {
	s := &subject{object: object}
	t := object.Type()
	iface := t.Underlying().(*types.Interface)
	switch {
	case !iface.IsMethodSet():
		s.reason = isConstraint
		return s
	case iface.NumMethods() == 0:
		s.reason = hasNoMethods
		return s
	}
	if params := s.typeParams(); slices.ContainsFunc(constraints(params), func(t types.Type) bool { return !names.cover(t) }) {
		if s.args = argumentsFor(t, params.Len(), object.Pkg()); s.args == nil {
			s.reason = hasNoArgs
			return s
		}
		instance, err := types.Instantiate(nil, t, s.args, true)
		if err != nil { // it has been tried before
			s.reason = err.Error()
			return s
		}
		iface = instance.Underlying().(*types.Interface)
	}
	for m := range iface.Methods() {
		s.methods++
		switch {
		case !m.Exported():
			s.private = true
		case !names.cover(m.Signature()):
			s.reason = isUnnameable
		case canBeRefused(m.Signature()):
			s.limited = append(s.limited, m)
		case (&naming{literal: true}).cover(m.Signature()):
			s.others = append(s.others, m)
		}
	}
	return s
}

// String returns the name of the interface with the path of its package.
func (s *subject) String() string { return s.object.Pkg().Path() + "." + s.object.Name() }

// typeParams returns the type parameters of the declaration, nil if it is not generic.
func (s *subject) typeParams() *types.TypeParamList {
	switch t := s.object.Type().(type) {
	case *types.Alias:
		return t.TypeParams()
	case *types.Named:
		return t.TypeParams()
	}
	return nil
}

func constraints(params *types.TypeParamList) []types.Type {
	var list []types.Type
	for param := range params.TypeParams() {
		list = append(list, param.Constraint())
	}
	return list
}

// argumentsFor returns type arguments for a generic interface that any package can name, or nil. They are all of one type,
// a predeclared one or one of the interface's package.
func argumentsFor(t types.Type, n int, pkg *types.Package) []types.Type {
	candidates := []types.Type{types.Typ[types.Int], types.Typ[types.String], types.NewSlice(types.Typ[types.Byte])}
	for _, name := range pkg.Scope().Names() {
		if object, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok && object.Exported() && !isGeneric(object.Type()) {
			candidates = append(candidates, object.Type(), types.NewPointer(object.Type()))
		}
	}
	for _, candidate := range candidates {
		args := slices.Repeat([]types.Type{candidate}, n)
		if _, err := types.Instantiate(nil, t, args, true); err == nil {
			return args
		}
	}
	return nil
}

func isGeneric(t types.Type) bool {
	generic, ok := t.(interface{ TypeParams() *types.TypeParamList })
	return ok && generic.TypeParams().Len() > 0
}

// canBeRefused reports whether the caller of a method can learn of a refusal: by an error, or by the answer to its
// request.
func canBeRefused(sig *types.Signature) bool {
	params, results := sig.Params(), sig.Results()
	if n := results.Len(); n > 0 {
		return types.Identical(results.At(n-1).Type(), types.Universe.Lookup("error").Type())
	}
	return params.Len() == 2 && isCalled(params.At(0).Type(), "net/http.ResponseWriter") && isCalled(params.At(1).Type(), "*net/http.Request")
}

func isCalled(t types.Type, name string) bool { return types.TypeString(types.Unalias(t), nil) == name }
