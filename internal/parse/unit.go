package parse

import (
	"go/ast"
	"go/token"
)

// unit is what is kept or left out as one: a function, a type, variables that one line declares, or a group of constants,
// which need each other for their values.
type unit struct {
	*piece
	decl  ast.Decl
	spec  ast.Spec // nil for a function and for constants
	level level
	kept  map[*ast.Field]bool // members of a type that keep all of their type
}

// add adds a declaration of a file that is parsed as a whole.
func (o *outline) add(decl ast.Decl) {
	p := &piece{outline: o}
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		p.names = []string{decl.Name.Name}
		if decl.Recv != nil {
			p.tok, p.receiver = token.FUNC, receiverName(decl)
		}
	case *ast.GenDecl:
		p.tok = decl.Tok
		if decl.Tok == token.IMPORT {
			return
		}
		for _, spec := range decl.Specs {
			for _, name := range declaredBy(spec) {
				p.names = append(p.names, name.Name)
			}
		}
	default: // illegible
		return
	}
	p.divide(decl)
	o.pieces = append(o.pieces, p)
}

// divide divides the declaration of the piece into units.
func (p *piece) divide(decl ast.Decl) {
	if group, ok := decl.(*ast.GenDecl); ok && group.Tok != token.CONST {
		for _, spec := range group.Specs {
			p.units = append(p.units, &unit{piece: p, decl: decl, spec: spec})
		}
	} else {
		p.units = []*unit{{piece: p, decl: decl}}
	}
	p.named = make(map[string][]*unit)
	for _, u := range p.units {
		for _, name := range u.names() {
			p.named[name.Name] = append(p.named[name.Name], u)
		}
	}
}

// names returns what a unit declares.
func (u *unit) names() []*ast.Ident {
	switch decl := u.decl.(type) {
	case *ast.FuncDecl:
		return []*ast.Ident{decl.Name}
	case *ast.GenDecl:
		if u.spec != nil {
			return declaredBy(u.spec)
		}
		var names []*ast.Ident
		for _, spec := range decl.Specs {
			names = append(names, declaredBy(spec)...)
		}
		return names
	}
	return nil
}

// mayBeAlias reports whether the piece may declare an alias.
func (p *piece) mayBeAlias() bool {
	if p.tok != token.TYPE || p.named != nil {
		return p.tok == token.TYPE
	}
	at := skipBlank(p.file.src, p.start+len("type"))
	if p.file.src[at] == '(' {
		return true
	}
	_, at = identsAt(nil, p.file.src, at)
	return p.file.src[skipBlank(p.file.src, at)] == '='
}

func declaredBy(spec ast.Spec) []*ast.Ident {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		return []*ast.Ident{spec.Name}
	case *ast.ValueSpec:
		return spec.Names
	}
	return nil
}

// receiverName returns the name of the type that a method belongs to, "" if it has none.
func receiverName(method *ast.FuncDecl) string {
	if len(method.Recv.List) == 0 {
		return ""
	}
	for t := ast.Unparen(method.Recv.List[0].Type); ; {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = ast.Unparen(x.X)
		case *ast.IndexExpr:
			t = ast.Unparen(x.X)
		case *ast.IndexListExpr:
			t = ast.Unparen(x.X)
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
