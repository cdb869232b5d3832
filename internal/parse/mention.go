package parse

import (
	"go/ast"
	"go/token"

	"golang.org/x/tools/go/packages"
)

// mention keeps what a node mentions, whatever its names mean, so that rather too much is kept than too little.
func (x *extent) mention(o *outline, node ast.Node, l level) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field: // not its names
			x.mention(o, n.Type, l)
			return false
		case *ast.SelectorExpr:
			x.selector(o, n, l)
			return false
		case *ast.KeyValueExpr: // perhaps of a field
			if name, ok := n.Key.(*ast.Ident); ok {
				x.ask(name.Name)
			}
		case *ast.Ident:
			x.ident(o, n.Name, l)
		}
		return true
	})
}

func (x *extent) ident(o *outline, name string, l level) {
	if !x.need(name, l) && token.IsExported(name) {
		for _, dot := range o.dots() {
			x.foreign(dot, name, l)
		}
	}
}

func (x *extent) selector(o *outline, n *ast.SelectorExpr, l level) {
	if name, ok := n.X.(*ast.Ident); ok {
		if imported := o.imported(name.Name); imported != nil {
			x.foreign(imported, n.Sel.Name, l)
			if l == asked { // what a directive takes for a package may be a parameter
				x.ask(n.Sel.Name)
			}
			return
		}
	}
	x.ask(n.Sel.Name)
	x.mention(o, n.X, l)
}

// foreign passes on what is mentioned of another package.
func (x *extent) foreign(p *packages.Package, name string, l level) {
	x.needs[p] = true
	if m := (mention{p, name, l}); !x.sent[m] {
		x.sent[m] = true
		x.mentions = append(x.mentions, m)
	}
}

// ask passes on that somebody can ask for the fields and methods of a name.
func (x *extent) ask(name string) {
	if x.sparse && !x.names[name] {
		x.fields = append(x.fields, name)
	}
}

// asks keeps what a constraint or the type of a parameter mentions: of types, somebody asks for its methods.
func (x *extent) asks(o *outline, expr ast.Expr) {
	switch expr := ast.Unparen(expr).(type) {
	case *ast.Ident, *ast.SelectorExpr:
		x.mention(o, expr, asked)
	case *ast.IndexExpr:
		x.asks(o, expr.X)
		x.mention(o, expr.Index, whole)
	case *ast.IndexListExpr:
		x.asks(o, expr.X)
		for _, arg := range expr.Indices {
			x.mention(o, arg, whole)
		}
	case *ast.InterfaceType:
		for _, field := range expr.Methods.List {
			for _, name := range field.Names {
				x.ask(name.Name)
			}
			if len(field.Names) > 0 {
				x.mention(o, field.Type, whole)
			} else {
				x.asks(o, field.Type)
			}
		}
	case *ast.Ellipsis:
		x.asks(o, expr.Elt)
	default:
		x.mention(o, expr, whole)
	}
}

// asksOf is for the constraints of type parameters, or the types of parameters.
func (x *extent) asksOf(o *outline, params *ast.FieldList) {
	if params != nil {
		for _, param := range params.List {
			x.asks(o, param.Type)
		}
	}
}

// sized keeps what the size of a type depends on.
func (x *extent) sized(o *outline, expr ast.Expr) {
	switch expr := ast.Unparen(expr).(type) {
	case *ast.Ident, *ast.SelectorExpr:
		x.mention(o, expr, shape)
	case *ast.IndexExpr:
		x.sized(o, expr.X)
		x.mention(o, expr.Index, whole)
	case *ast.IndexListExpr:
		x.sized(o, expr.X)
		for _, arg := range expr.Indices {
			x.mention(o, arg, whole)
		}
	case *ast.ArrayType:
		if expr.Len != nil {
			x.mention(o, expr.Len, whole)
			x.sized(o, expr.Elt)
		}
	case *ast.StructType:
		for _, field := range expr.Fields.List {
			x.sized(o, field.Type)
		}
	}
}
