package parse

import (
	"go/ast"
	"slices"
)

// raise keeps at least that much of a unit, and what it mentions.
func (x *extent) raise(u *unit, l level) {
	before := u.level
	if l <= before {
		return
	}
	u.level = l
	switch decl := u.decl.(type) {
	case *ast.FuncDecl:
		x.function(u, decl, before)
	case *ast.GenDecl:
		switch spec := u.spec.(type) {
		case *ast.TypeSpec:
			x.typeSpec(u, spec, before)
		case *ast.ValueSpec:
			x.values(u, spec)
		default:
			for _, spec := range decl.Specs {
				x.values(u, spec.(*ast.ValueSpec))
			}
		}
	}
}

// function keeps what a function or method mentions.
func (x *extent) function(u *unit, decl *ast.FuncDecl, before level) {
	if before == nothing {
		if decl.Recv != nil {
			x.need(receiverName(decl), shape) // perhaps an alias of the type
		}
		x.mention(u.outline, decl.Type, whole)
		x.asksOf(u.outline, decl.Type.TypeParams)
	}
	if u.level == asked { // somebody calls it
		x.asksOf(u.outline, decl.Type.Params)
	}
}

// values keeps what constants or variables mention.
func (x *extent) values(u *unit, spec *ast.ValueSpec) {
	if spec.Type != nil {
		x.mention(u.outline, spec.Type, whole)
	}
	for _, value := range spec.Values {
		x.mention(u.outline, value, asked)
	}
}

// typeSpec keeps what a type mentions of which less has been kept before.
func (x *extent) typeSpec(u *unit, spec *ast.TypeSpec, before level) {
	if before == nothing {
		x.types = append(x.types, u)
		x.asksOf(u.outline, spec.TypeParams)
	}
	switch {
	case u.level == shape && x.cuts():
		x.sized(u.outline, spec.Type)
	case before <= shape && x.members(u) == nil:
		x.mention(u.outline, spec.Type, whole)
	}
	if u.level == asked {
		x.asks(u.outline, spec.Type)
	}
	x.keepMembers(u)
}

// keepMembers keeps the methods and fields of a type that somebody can ask for, of which there may be more than before.
func (x *extent) keepMembers(u *unit) {
	for _, p := range x.methods[u.spec.(*ast.TypeSpec).Name.Name] {
		if name := p.names[0]; !x.cuts() || x.names[name] && (u.level > shape || slices.Contains(ofLocks, name)) {
			for _, method := range x.units(p, name) {
				x.raise(method, whole)
			}
		}
	}
	if u.level <= shape {
		return
	}
	for _, field := range x.members(u) {
		switch {
		case u.kept[field]:
		case x.isKept(u, field):
			if u.kept == nil {
				u.kept = make(map[*ast.Field]bool)
			}
			u.kept[field] = true
			x.mention(u.outline, field.Type, whole)
		default:
			x.sized(u.outline, field.Type)
		}
	}
}

// members returns the fields of a struct or the methods of an interface, if something may be cut there: it must be the only
// type that is spelled so.
func (x *extent) members(u *unit) []*ast.Field {
	spec := u.spec.(*ast.TypeSpec)
	if !x.cuts() || spec.Assign.IsValid() {
		return nil
	}
	switch literal := ast.Unparen(spec.Type).(type) {
	case *ast.StructType:
		return literal.Fields.List
	case *ast.InterfaceType:
		return literal.Methods.List
	}
	return nil
}

// isKept reports whether a member is embedded, a method that other packages can call, or a field that somebody can ask for.
func (x *extent) isKept(u *unit, field *ast.Field) bool {
	if len(field.Names) == 0 {
		return true
	}
	if _, ok := ast.Unparen(u.spec.(*ast.TypeSpec).Type).(*ast.InterfaceType); ok {
		return field.Names[0].IsExported()
	}
	return slices.ContainsFunc(field.Names, func(name *ast.Ident) bool { return x.names[name.Name] })
}
