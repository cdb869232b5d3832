package parse

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// assemble makes what is kept the syntax of the package.
func (x *extent) assemble(c *checkedPackage) {
	for p := range x.needs {
		c.needs = append(c.needs, p)
	}
	for _, o := range x.files {
		if isOurs(x.pkg) {
			c.files, c.syntax = append(c.files, o.file), append(c.syntax, o.file.syntax)
			continue
		}
		var decls []ast.Decl
		for _, p := range o.pieces {
			if decl := x.left(p); decl != nil {
				decls = append(decls, decl)
			}
		}
		if len(decls) > 0 {
			syntax := o.assembled(decls)
			c.files, c.syntax = append(c.files, o.file), append(c.syntax, syntax)
		}
	}
}

// assembled returns the file with its imports and those declarations.
func (o *outline) assembled(decls []ast.Decl) *ast.File {
	syntax := *o.file.syntax
	syntax.Decls = nil
	for _, decl := range o.file.syntax.Decls {
		if group, ok := decl.(*ast.GenDecl); ok && group.Tok == token.IMPORT {
			syntax.Decls = append(syntax.Decls, decl)
		}
	}
	syntax.Decls = append(syntax.Decls, decls...)
	if o.file.place != nil { // of the declarations nothing is there yet, or what another variant of the package needs
		all := syntax
		all.Decls = slices.Concat(o.file.syntax.Decls, decls)
		o.file.syntax = &all
	}
	return &syntax
}

// left returns what is kept of a declaration, nil if nothing is.
func (x *extent) left(p *piece) ast.Decl {
	if len(p.units) == 0 {
		return nil
	}
	first := p.units[0]
	if first.spec == nil {
		if first.level == nothing {
			return nil
		}
		return first.decl
	}
	group := *first.decl.(*ast.GenDecl)
	group.Specs = nil
	for _, u := range p.units {
		if u.level > nothing {
			group.Specs = append(group.Specs, x.cut(u))
		}
	}
	if len(group.Specs) == 0 {
		return nil
	}
	return &group
}

// cut returns what is kept of a type or of variables.
func (x *extent) cut(u *unit) ast.Spec {
	spec, ok := u.spec.(*ast.TypeSpec)
	if !ok || !x.cuts() {
		return u.spec
	}
	without := *spec
	if u.level == shape {
		without.Type = shapeOf(spec.Type)
		return &without
	}
	all := x.members(u)
	if all == nil {
		return spec
	}
	members := &ast.FieldList{Opening: spec.Type.Pos()}
	for _, field := range all {
		if !u.kept[field] {
			field = &ast.Field{Names: field.Names, Type: shapeOf(field.Type), Tag: field.Tag}
		}
		members.List = append(members.List, field)
	}
	switch literal := ast.Unparen(spec.Type).(type) {
	case *ast.StructType:
		without.Type = &ast.StructType{Struct: literal.Struct, Fields: members}
	case *ast.InterfaceType:
		without.Type = &ast.InterfaceType{Interface: literal.Interface, Methods: members}
	}
	return &without
}

// shapeOf returns a type that takes as much memory as another one, has values that can be compared if that has, and mentions
// no more than it must. Its parts that need not be known have names made of what they were: types that differ still do.
func shapeOf(expr ast.Expr) ast.Expr {
	switch expr := ast.Unparen(expr).(type) {
	case *ast.StarExpr:
		return &ast.StarExpr{Star: expr.Star, X: anything(expr)}
	case *ast.ArrayType:
		if expr.Len == nil {
			return &ast.ArrayType{Lbrack: expr.Lbrack, Elt: anything(expr)}
		}
		return &ast.ArrayType{Lbrack: expr.Lbrack, Len: expr.Len, Elt: shapeOf(expr.Elt)}
	case *ast.MapType:
		return &ast.MapType{Map: expr.Map, Key: anything(expr), Value: anything(expr)}
	case *ast.ChanType:
		return &ast.ChanType{Begin: expr.Begin, Arrow: expr.Arrow, Dir: expr.Dir, Value: anything(expr)}
	case *ast.FuncType:
		return &ast.FuncType{Func: expr.Func, Params: &ast.FieldList{Opening: expr.Pos(), List: []*ast.Field{{Type: anything(expr)}}}}
	case *ast.InterfaceType:
		method := &ast.Field{
			Names: []*ast.Ident{{NamePos: expr.Pos(), Name: types.ExprString(expr)}},
			Type:  &ast.FuncType{Func: expr.Pos(), Params: &ast.FieldList{Opening: expr.Pos()}},
		}
		return &ast.InterfaceType{Interface: expr.Interface, Methods: &ast.FieldList{Opening: expr.Pos(), List: []*ast.Field{method}}}
	case *ast.StructType:
		fields := make([]*ast.Field, len(expr.Fields.List))
		for i, field := range expr.Fields.List {
			names := field.Names
			if star, ok := ast.Unparen(field.Type).(*ast.StarExpr); ok && len(names) == 0 { // only names can be embedded
				names = []*ast.Ident{{NamePos: star.Star, Name: types.ExprString(star)}}
			}
			fields[i] = &ast.Field{Names: names, Type: shapeOf(field.Type), Tag: field.Tag}
		}
		return &ast.StructType{Struct: expr.Struct, Fields: &ast.FieldList{Opening: expr.Pos(), List: fields}}
	}
	return expr
}

// anything returns a type that is known by the spelling of another one.
func anything(expr ast.Expr) ast.Expr {
	name := &ast.Ident{NamePos: expr.Pos(), Name: types.ExprString(expr)}
	empty := &ast.StructType{Struct: expr.Pos(), Fields: &ast.FieldList{Opening: expr.Pos()}}
	return &ast.StructType{Struct: expr.Pos(), Fields: &ast.FieldList{Opening: expr.Pos(), List: []*ast.Field{{Names: []*ast.Ident{name}, Type: empty}}}}
}
