package parse

import (
	"go/ast"
	"go/token"
)

// prune removes from a file what no signature depends on: function bodies, and the values of variables whose type can be
// read off. What is left needs a fraction of the imports. The imports themselves stay, for their names.
func prune(file *ast.File) {
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Body != nil {
				decl.Body.List = endless
			}
		case *ast.GenDecl:
			if decl.Tok != token.VAR {
				continue
			}
			for _, spec := range decl.Specs {
				pruneVar(spec.(*ast.ValueSpec))
			}
		}
	}
}

// endless stands in for what was in a function body. One that is empty lacks a return statement.
var endless = []ast.Stmt{&ast.ForStmt{Body: &ast.BlockStmt{}}}

func pruneVar(spec *ast.ValueSpec) {
	if spec.Type == nil && len(spec.Values) == 1 && len(spec.Names) == 1 {
		spec.Type = spelledType(spec.Values[0])
	}
	if spec.Type != nil {
		spec.Values = nil
		return
	}
	for _, value := range spec.Values {
		if fn, ok := value.(*ast.FuncLit); ok {
			fn.Body.List = endless
		}
	}
}

// spelledType returns the type that a value spells out, as in T{...} and &T{...}, or nil.
func spelledType(value ast.Expr) ast.Expr {
	switch value := value.(type) {
	case *ast.CompositeLit:
		if array, ok := value.Type.(*ast.ArrayType); ok {
			if _, ok := array.Len.(*ast.Ellipsis); ok {
				return nil
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

// usedNames returns the names that stand before a dot in a node: among them are those of the imports it needs.
func usedNames(node ast.Node) map[string]bool {
	names := make(map[string]bool)
	ast.Inspect(node, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := selector.X.(*ast.Ident); ok {
				names[x.Name] = true
			}
		}
		return true
	})
	return names
}
