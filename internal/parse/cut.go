package parse

import (
	"go/ast"
	"go/token"
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
	without, shapes := *spec, shapesIn(u.file, spec)
	if u.level == shape {
		without.Type = shapes.of(spec.Type)
		return &without
	}
	all := x.members(u)
	if all == nil {
		return spec
	}
	members := &ast.FieldList{Opening: spec.Type.Pos()}
	for _, field := range all {
		if !u.kept[field] {
			field = &ast.Field{Names: field.Names, Type: shapes.of(field.Type), Tag: field.Tag}
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
