package parse

import (
	"go/ast"
	"go/token"
	"go/types"
	"iter"
)

// WhyUnknown reports whether the type of a value is unknown, or those of a function, and returns the first mistake that keeps
// anyone from knowing it, if there is one.
func (p *Package) WhyUnknown(obj types.Object) (mistake *Diagnostic, isUnknown bool) {
	if name := nameOnly(obj.Type()); name != nil {
		obj = name
	} else if _, isImport := obj.(*types.PkgName); isImport || !unknown.in(obj.Type()) {
		return nil, false
	}
	file := p.source.fileAt(obj.Pos())
	if file == nil {
		return nil, true
	}
	d := &declaration{resolver: &resolver{source: p.source, checked: p.checked}}
	d.trace(d.packageOf(file), file, file.declarationAt(obj.Pos()), make(map[ast.Node]bool))
	if len(d.diags) == 0 {
		return nil, true
	}
	return &d.diags[0], true
}

// nameOnly returns the name of a type of which nothing else is known, as of one that is defined by one of C, if the type is
// that, points to that, or is that of functions with such a result. It is nil if there is none.
func nameOnly(t types.Type) *types.TypeName {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		if t.Underlying() == types.Typ[types.Invalid] {
			return t.Obj()
		}
	case *types.Pointer:
		return nameOnly(t.Elem())
	case *types.Signature:
		for result := range t.Results().Variables() {
			if name := nameOnly(result.Type()); name != nil {
				return name
			}
		}
	}
	return nil
}

// declarationAt returns the innermost declaration that holds a place: a function, a line of types or variables, a member of a
// type, or the file if there is none.
func (f *sourceFile) declarationAt(pos token.Pos) ast.Node {
	var found ast.Node = f.syntax
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if n == nil || pos < n.Pos() || n.End() <= pos {
			return false
		}
		switch n.(type) {
		case *ast.FuncDecl, *ast.TypeSpec, *ast.ValueSpec, *ast.Field:
			found = n
		}
		return true
	})
	return found
}

// part is a kind of types that others may be spelled with.
type part func(types.Type) bool

// unknown are those that the type checker does not know.
var unknown = part(func(t types.Type) bool { return t == types.Typ[types.Invalid] })

// unwritable are those, and those that only cgo can name.
var unwritable = part(func(t types.Type) bool {
	switch t := t.(type) {
	case *types.Alias:
		return ofCgo(t.Obj())
	case *types.Named:
		return ofCgo(t.Obj())
	}
	return unknown(t)
})

// in reports whether the type is spelled with one of the kind.
func (is part) in(t types.Type) bool {
	if is(t) {
		return true
	}
	switch t := t.(type) {
	case *types.Alias:
		return is.inAny(t.TypeArgs().Types()) || is.in(t.Rhs())
	case *types.Named:
		return is.inAny(t.TypeArgs().Types())
	case *types.Pointer:
		return is.in(t.Elem())
	case *types.Slice:
		return is.in(t.Elem())
	case *types.Array:
		return is.in(t.Elem())
	case *types.Chan:
		return is.in(t.Elem())
	case *types.Map:
		return is.in(t.Key()) || is.in(t.Elem())
	case *types.Signature:
		return is.inAny(typesOf(t.Params().Variables())) || is.inAny(typesOf(t.Results().Variables()))
	case *types.Struct:
		return is.inAny(typesOf(t.Fields()))
	case *types.Interface:
		return is.inAny(typesOf(t.ExplicitMethods())) || is.inAny(t.EmbeddedTypes())
	case *types.Union:
		for term := range t.Terms() {
			if is.in(term.Type()) {
				return true
			}
		}
	}
	return false
}

func (is part) inAny(seq iter.Seq[types.Type]) bool {
	for t := range seq {
		if is.in(t) {
			return true
		}
	}
	return false
}

// inConstraints reports whether a constraint of the type's parameters is spelled with one of the kind.
func (is part) inConstraints(t types.Type) bool {
	for param := range typeParamsOf(t).TypeParams() {
		if is.in(param.Constraint()) {
			return true
		}
	}
	return false
}

// typesOf returns the types of variables or methods.
func typesOf[O types.Object](objects iter.Seq[O]) iter.Seq[types.Type] {
	return func(yield func(types.Type) bool) {
		for object := range objects {
			if !yield(object.Type()) {
				return
			}
		}
	}
}
