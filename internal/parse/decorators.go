package parse

import (
	"go/ast"
	"go/token"
	"iter"
	"slices"
)

// withDecorators returns the syntax of files together with the decorators that their interfaces may have: a signature may
// name one, and our own output, which declares them, is stale or not there yet. Which interfaces are annotated is not
// known before types are, so each type that may be an interface has one. One too many does no harm: if nothing declares
// it in the end, the compiler says so where it is named. Decorators stand nowhere, so that no error in them is taken for
// one of the user's.
func withDecorators(files []*sourceFile, nowhere token.Pos) []*ast.File {
	taken := make(map[string]token.Pos)
	for _, f := range files {
		declared(f.syntax, taken)
	}
	all := syntaxOf(files)
	for i, syntax := range all {
		var decls []ast.Decl
		for spec := range typeSpecs(syntax) {
			if _, ok := taken[DecoratorName(spec.Name.Name)]; !ok && mayBeInterface(spec.Type) {
				decls = append(decls, decoratorOf(spec, nowhere))
			}
		}
		extended := *syntax // the file may be of other packages, too: those that are recompiled for tests
		extended.Decls = slices.Concat(syntax.Decls, decls)
		all[i] = &extended
	}
	return all
}

// typeSpecs returns the types that a file declares at package level.
func typeSpecs(file *ast.File) iter.Seq[*ast.TypeSpec] {
	return func(yield func(*ast.TypeSpec) bool) {
		for _, decl := range file.Decls {
			decl, ok := decl.(*ast.GenDecl)
			if !ok || decl.Tok != token.TYPE {
				continue
			}
			for _, spec := range decl.Specs {
				if !yield(spec.(*ast.TypeSpec)) {
					return
				}
			}
		}
	}
}

func syntaxOf(files []*sourceFile) []*ast.File {
	var syntax []*ast.File
	for _, f := range files {
		syntax = append(syntax, f.syntax)
	}
	return syntax
}

func mayBeInterface(expr ast.Expr) bool {
	switch ast.Unparen(expr).(type) {
	case *ast.InterfaceType, *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr, *ast.IndexListExpr:
		return true
	}
	return false
}

// decoratorOf returns a declaration of the decorator of an interface: a struct that has its methods.
func decoratorOf(spec *ast.TypeSpec, nowhere token.Pos) ast.Decl {
	ident := func(name string) *ast.Ident { return &ast.Ident{Name: name, NamePos: nowhere} }
	var args []ast.Expr
	if spec.TypeParams != nil {
		for _, field := range spec.TypeParams.List {
			for _, name := range field.Names {
				args = append(args, ident(name.Name))
			}
		}
	}
	var embedded ast.Expr = ident(spec.Name.Name)
	switch len(args) {
	case 0:
	case 1:
		embedded = &ast.IndexExpr{X: embedded, Index: args[0]}
	default:
		embedded = &ast.IndexListExpr{X: embedded, Indices: args}
	}
	return &ast.GenDecl{Tok: token.TYPE, Specs: []ast.Spec{&ast.TypeSpec{
		Name:       ident(DecoratorName(spec.Name.Name)),
		TypeParams: spec.TypeParams,
		Type:       &ast.StructType{Fields: &ast.FieldList{List: []*ast.Field{{Type: embedded}}}},
	}}}
}

// standIn returns a declaration of a type of that name, with as many type parameters, of which anything is good enough.
func standIn(name string, params *ast.FieldList, nowhere token.Pos) ast.Decl {
	var free *ast.FieldList
	if params != nil {
		free = &ast.FieldList{}
		for _, field := range params.List {
			for _, param := range field.Names {
				free.List = append(free.List, &ast.Field{
					Names: []*ast.Ident{{Name: param.Name, NamePos: nowhere}},
					Type:  &ast.InterfaceType{Interface: nowhere, Methods: &ast.FieldList{}},
				})
			}
		}
	}
	return &ast.GenDecl{Tok: token.TYPE, Specs: []ast.Spec{&ast.TypeSpec{
		Name:       &ast.Ident{Name: name, NamePos: nowhere},
		TypeParams: free,
		Type:       &ast.StructType{Struct: nowhere, Fields: &ast.FieldList{}},
	}}}
}
