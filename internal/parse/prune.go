package parse

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
)

// prune returns a file without what no signature depends on: function bodies, and the values of variables whose type can
// be read off. What is left needs a fraction of the imports. The imports themselves stay, for their names. The file may be
// somebody else's, and stays as it is.
func prune(file *ast.File) *ast.File {
	pruned := *file
	pruned.Decls = slices.Clone(file.Decls)
	for i, decl := range pruned.Decls {
		pruned.Decls[i] = pruneDecl(decl)
	}
	return &pruned
}

func pruneDecl(decl ast.Decl) ast.Decl {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		return &ast.FuncDecl{Doc: decl.Doc, Recv: decl.Recv, Name: decl.Name, Type: decl.Type, Body: emptied(decl.Body)}
	case *ast.GenDecl:
		if decl.Tok != token.VAR {
			break
		}
		without := *decl
		without.Specs = make([]ast.Spec, len(decl.Specs))
		for i, spec := range decl.Specs {
			without.Specs[i] = pruneVar(spec.(*ast.ValueSpec))
		}
		return &without
	}
	return decl
}

// endless stands in for what was in a function body. One that is empty lacks a return statement.
var endless = []ast.Stmt{&ast.ForStmt{Body: &ast.BlockStmt{}}}

func pruneVar(spec *ast.ValueSpec) *ast.ValueSpec {
	pruned := *spec
	if spec.Type == nil && len(spec.Values) == 1 && len(spec.Names) == 1 {
		pruned.Type = spelledType(spec.Values[0])
	}
	if pruned.Type != nil {
		pruned.Values = nil
		return &pruned
	}
	pruned.Values = bareAll(spec.Values)
	return &pruned
}

// bare returns a value of the same type with less in it: nothing of what functions do, and nothing in composite literals.
func bare(value ast.Expr) ast.Expr {
	switch value := value.(type) {
	case *ast.FuncLit:
		return &ast.FuncLit{Type: value.Type, Body: emptied(value.Body)}
	case *ast.CompositeLit:
		literal := *value
		literal.Elts = nil
		if array, ok := value.Type.(*ast.ArrayType); ok && array.Len != nil { // perhaps counted by them
			literal.Elts = value.Elts
		}
		return &literal
	case *ast.CallExpr:
		call := *value
		call.Fun, call.Args = bare(value.Fun), bareAll(value.Args)
		return &call
	case *ast.SelectorExpr:
		return &ast.SelectorExpr{X: bare(value.X), Sel: value.Sel}
	case *ast.ParenExpr:
		return &ast.ParenExpr{Lparen: value.Lparen, X: bare(value.X), Rparen: value.Rparen}
	case *ast.UnaryExpr:
		return &ast.UnaryExpr{OpPos: value.OpPos, Op: value.Op, X: bare(value.X)}
	}
	return value
}

func bareAll(values []ast.Expr) []ast.Expr {
	all := make([]ast.Expr, len(values))
	for i, value := range values {
		all[i] = bare(value)
	}
	return all
}

// emptied returns a function's body without what it does. A function without a body has none.
func emptied(body *ast.BlockStmt) *ast.BlockStmt {
	if body == nil {
		return nil
	}
	return &ast.BlockStmt{Lbrace: body.Lbrace, List: endless, Rbrace: body.Rbrace}
}

// spelledType returns the type that a value spells out, as in T{...} and &T{...}, or nil.
func spelledType(value ast.Expr) ast.Expr {
	switch value := value.(type) {
	case *ast.CompositeLit:
		if array, ok := value.Type.(*ast.ArrayType); ok {
			if dots, ok := array.Len.(*ast.Ellipsis); ok {
				if slices.ContainsFunc(value.Elts, isKeyed) {
					return nil
				}
				n := &ast.BasicLit{ValuePos: dots.Ellipsis, Kind: token.INT, Value: strconv.Itoa(len(value.Elts))}
				return &ast.ArrayType{Lbrack: array.Lbrack, Len: n, Elt: array.Elt}
			}
		}
		return value.Type
	case *ast.UnaryExpr:
		if literal, ok := value.X.(*ast.CompositeLit); ok && value.Op == token.AND {
			if t := spelledType(literal); t != nil {
				return &ast.StarExpr{Star: value.OpPos, X: t}
			}
		}
	}
	return nil
}

func isKeyed(element ast.Expr) bool {
	_, ok := element.(*ast.KeyValueExpr)
	return ok
}
