package parse

import (
	"go/ast"
	"go/types"
)

// shapes makes shapes of the types in one declaration. A shape takes as much memory as the type, has values that can be
// compared if that has, and mentions no more than it must. Its parts that need not be known have names made of what they
// were: types that differ still do, and cannot be converted into each other. That types of two files differ where they did
// not does no harm, since errors are never the last word, see [Listing.LoadSparse].
type shapes struct {
	path   string       // of the file, whose imports say what a spelling means
	params []*ast.Field // a pointer to each type parameter, which a spelling does not tell apart either
}

// shapesIn returns those for a type declaration.
func shapesIn(file *sourceFile, spec *ast.TypeSpec) shapes {
	s := shapes{path: file.path}
	if spec.TypeParams == nil {
		return s
	}
	for _, list := range spec.TypeParams.List {
		for _, param := range list.Names {
			if param.Name != "_" {
				s.params = append(s.params, &ast.Field{
					Names: []*ast.Ident{{NamePos: param.Pos(), Name: "*" + param.Name}},
					Type:  &ast.StarExpr{Star: param.Pos(), X: param},
				})
			}
		}
	}
	return s
}

func (s shapes) of(expr ast.Expr) ast.Expr {
	switch expr := ast.Unparen(expr).(type) {
	case *ast.StarExpr:
		return &ast.StarExpr{Star: expr.Star, X: s.anything(expr)}
	case *ast.ArrayType:
		if expr.Len == nil {
			return &ast.ArrayType{Lbrack: expr.Lbrack, Elt: s.anything(expr)}
		}
		return &ast.ArrayType{Lbrack: expr.Lbrack, Len: expr.Len, Elt: s.of(expr.Elt)}
	case *ast.MapType:
		return &ast.MapType{Map: expr.Map, Key: s.anything(expr), Value: s.anything(expr)}
	case *ast.ChanType:
		return &ast.ChanType{Begin: expr.Begin, Arrow: expr.Arrow, Dir: expr.Dir, Value: s.anything(expr)}
	case *ast.FuncType:
		return &ast.FuncType{Func: expr.Func, Params: &ast.FieldList{Opening: expr.Pos(), List: []*ast.Field{{Type: s.anything(expr)}}}}
	case *ast.InterfaceType:
		method := &ast.Field{
			Names: []*ast.Ident{s.spelling(expr)},
			Type:  &ast.FuncType{Func: expr.Pos(), Params: &ast.FieldList{Opening: expr.Pos(), List: s.params}},
		}
		return &ast.InterfaceType{Interface: expr.Interface, Methods: &ast.FieldList{Opening: expr.Pos(), List: []*ast.Field{method}}}
	case *ast.StructType:
		fields := make([]*ast.Field, len(expr.Fields.List))
		for i, field := range expr.Fields.List {
			names := field.Names
			if star, ok := ast.Unparen(field.Type).(*ast.StarExpr); ok && len(names) == 0 { // only names can be embedded
				names = []*ast.Ident{s.spelling(star)}
			}
			fields[i] = &ast.Field{Names: names, Type: s.of(field.Type), Tag: field.Tag}
		}
		return &ast.StructType{Struct: expr.Struct, Fields: &ast.FieldList{Opening: expr.Pos(), List: fields}}
	}
	return expr
}

// anything returns a type that stands for one that has no name.
func (s shapes) anything(expr ast.Expr) ast.Expr {
	empty := &ast.StructType{Struct: expr.Pos(), Fields: &ast.FieldList{Opening: expr.Pos()}}
	fields := append([]*ast.Field{{Names: []*ast.Ident{s.spelling(expr)}, Type: empty}}, s.params...)
	return &ast.StructType{Struct: expr.Pos(), Fields: &ast.FieldList{Opening: expr.Pos(), List: fields}}
}

// spelling returns a name made of the spelling of a type. Since it begins as the type does, it is not exported: no other
// package has the same one.
func (s shapes) spelling(expr ast.Expr) *ast.Ident {
	return &ast.Ident{NamePos: expr.Pos(), Name: types.ExprString(expr) + " in " + s.path}
}
