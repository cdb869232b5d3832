package parse

import (
	"go/ast"
	"go/token"
	"go/types"
)

// WhyUnknown returns the first mistake that keeps anyone from knowing the type of a value, or what a function returns, and
// whether there is one.
func (p *Package) WhyUnknown(obj types.Object) (Diagnostic, bool) {
	if name := nameOnly(obj.Type()); name != nil {
		obj = name
	} else if !isInvalid(obj.Type()) {
		return Diagnostic{}, false
	}
	file := p.source.fileAt(obj.Pos())
	if _, isImport := obj.(*types.PkgName); isImport || file == nil {
		return Diagnostic{}, false
	}
	d := &declaration{resolver: &resolver{source: p.source, checked: p.checked}}
	d.trace(d.packageOf(file), file, file.declarationAt(obj.Pos()), make(map[ast.Node]bool))
	if len(d.diags) == 0 {
		return Diagnostic{}, false
	}
	return d.diags[0], true
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
