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
	d := &declaration{resolver: &resolver{source: p.source, checked: p.checked}}
	switch obj := obj.(type) {
	case *types.PkgName: // has no type, as those below
		if file := d.fileAt(obj.Pos()); file != nil {
			d.importErrors(file, obj.Imported().Path())
		}
		return d.first(), d.first() != nil
	case *types.Builtin, *types.Label:
		return nil, false
	}
	if name := nameOnly(obj.Type()); name != nil {
		obj = name
	} else if !unknown.in(obj.Type()) {
		return nil, false
	}
	d.traceObject(obj)
	return d.first(), true
}

// WhyIncomplete returns the mistake by which a value may lack fields or methods that it should have, or nil: an embedded type is
// unknown.
func (p *Package) WhyIncomplete(t types.Type) *Diagnostic {
	return p.whyIncomplete(t, make(map[types.Type]bool))
}

func (p *Package) whyIncomplete(t types.Type, seen map[types.Type]bool) *Diagnostic {
	if pointer, ok := t.Underlying().(*types.Pointer); ok {
		t = pointer.Elem()
	}
	if seen[t] {
		return nil
	}
	seen[t] = true
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for field := range u.Fields() {
			if !field.Embedded() {
				continue
			}
			mistake, isUnknown := p.WhyUnknown(field)
			if !isUnknown {
				mistake = p.whyIncomplete(field.Type(), seen)
			}
			if mistake != nil {
				return mistake
			}
		}
	case *types.Interface:
		d := &declaration{resolver: &resolver{source: p.source, checked: p.checked}}
		for _, node := range p.source.flatten(u).broken {
			if node == nil { // its literal is known by its type only
				if named, ok := types.Unalias(t).(*types.Named); ok {
					d.traceObject(named.Obj())
				}
			} else if file := d.fileAt(node.Pos()); file != nil {
				d.trace(d.packageOf(file), file, node, make(map[ast.Node]bool))
			}
		}
		return d.first()
	}
	return nil
}

// traceObject reports why the type of an object is unknown, as [declaration.trace] does.
func (d *declaration) traceObject(obj types.Object) {
	if file := d.fileAt(obj.Pos()); file != nil {
		d.trace(d.packageOf(file), file, file.declarationAt(obj.Pos()), make(map[ast.Node]bool))
	}
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
	case *types.Alias: // has a name to be written by, whatever it stands for
		return is.inAny(t.TypeArgs().Types()) || unknown.in(t.Rhs())
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
