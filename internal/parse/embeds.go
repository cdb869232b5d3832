package parse

import (
	"go/ast"
	"go/types"
	"iter"
)

// embedded returns what the interfaces of a file embed, terms of constraints left aside, which have no methods.
func embedded(file *ast.File) iter.Seq[ast.Expr] {
	return func(yield func(ast.Expr) bool) {
		goesOn := true
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.InterfaceType)
			if !ok || !goesOn {
				return goesOn
			}
			for _, field := range literal.Methods.List {
				if len(field.Names) == 0 && !isTerm(field.Type) {
					goesOn = goesOn && yield(ast.Unparen(field.Type))
				}
			}
			return goesOn
		})
	}
}

// isTerm reports whether an embedded element is a union, or a term with a tilde.
func isTerm(element ast.Expr) bool {
	switch ast.Unparen(element).(type) {
	case *ast.UnaryExpr, *ast.BinaryExpr:
		return true
	}
	return false
}

// embedsNamed reports whether an interface of the file embeds a type that has a name.
func embedsNamed(file *ast.File) bool {
	for expr := range embedded(file) {
		if _, isLiteral := expr.(*ast.InterfaceType); !isLiteral { // which is looked at by itself
			return true
		}
	}
	return false
}

// bringsIn reports whether an interface in the files of a package embeds a type that may have methods from another package,
// unless isForeign says of the name before its dot, in the file with that index, that it does not matter. A type of the package
// itself does not matter either if it is written out as an interface: what that one embeds is looked at, too. Aliases and
// defined types may stand for anything.
func bringsIn(files []*ast.File, isForeign func(file int, name string) bool) bool {
	e := embeds{own: make(map[string]bool), isForeign: isForeign}
	for _, file := range files {
		e.declare(file)
	}
	for i, file := range files {
		for expr := range embedded(file) {
			if !e.isHarmless(i, expr) {
				return true
			}
		}
	}
	return false
}

// embeds judges what interfaces of a package embed.
type embeds struct {
	own       map[string]bool // whether a type of the package is an interface that is written out
	isOpen    bool            // an import brings in nobody knows what names
	isForeign func(file int, name string) bool
}

func (e *embeds) declare(file *ast.File) {
	for spec := range typeSpecs(file) {
		_, isWritten := ast.Unparen(spec.Type).(*ast.InterfaceType)
		wasWritten, isDeclared := e.own[spec.Name.Name] // for another build, too
		e.own[spec.Name.Name] = isWritten && (wasWritten || !isDeclared)
	}
	for _, spec := range file.Imports {
		e.isOpen = e.isOpen || spec.Name != nil && spec.Name.Name == "."
	}
}

// isHarmless reports whether an embedded type certainly brings no method from a package that matters.
func (e *embeds) isHarmless(file int, expr ast.Expr) bool {
	switch x := ast.Unparen(expr).(type) {
	case *ast.IndexExpr:
		expr = x.X // type arguments bring no methods
	case *ast.IndexListExpr:
		expr = x.X
	}
	switch x := ast.Unparen(expr).(type) {
	case *ast.InterfaceType: // is looked at by itself
		return true
	case *ast.SelectorExpr:
		pkg, ok := x.X.(*ast.Ident)
		return ok && e.isForeign(file, pkg.Name)
	case *ast.Ident:
		isWritten, isDeclared := e.own[x.Name]
		return isWritten || !isDeclared && !e.isOpen && types.Universe.Lookup(x.Name) != nil
	}
	return false
}
