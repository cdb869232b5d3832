package generate

import (
	"go/ast"
	"go/types"

	"github.com/dave/jennifer/jen"
)

// expr returns a constant expression of any package as it is written in the target, or nil if it cannot be.
func (p *printer) expr(e ast.Expr, scope *types.Scope) *jen.Statement {
	switch e := e.(type) {
	case *ast.BasicLit:
		return jen.Op(e.Value)
	case *ast.Ident:
		return p.object(lookUp(scope, e.Name))
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			if name, ok := lookUp(scope, x.Name).(*types.PkgName); ok {
				return p.object(name.Imported().Scope().Lookup(e.Sel.Name))
			}
		}
	case *ast.ParenExpr:
		return p.wrap(e.X, scope, func(x *jen.Statement) *jen.Statement { return jen.Parens(x) })
	case *ast.UnaryExpr:
		return p.wrap(e.X, scope, func(x *jen.Statement) *jen.Statement { return jen.Op(e.Op.String()).Add(x) })
	case *ast.BinaryExpr:
		return p.wrap(e.X, scope, func(x *jen.Statement) *jen.Statement {
			return p.wrap(e.Y, scope, func(y *jen.Statement) *jen.Statement { return x.Op(e.Op.String()).Add(y) })
		})
	case *ast.CallExpr:
		return p.wrap(e.Fun, scope, func(fun *jen.Statement) *jen.Statement {
			args := make([]jen.Code, len(e.Args))
			for i, arg := range e.Args {
				code := p.expr(arg, scope)
				if code == nil {
					return nil
				}
				args[i] = code
			}
			return fun.Call(args...)
		})
	case *ast.CompositeLit:
		if e.Type != nil && len(e.Elts) == 0 {
			return p.wrap(e.Type, scope, func(t *jen.Statement) *jen.Statement { return t.Values() })
		}
	}
	return nil
}

// wrap returns what f makes of an expression, or nil.
func (p *printer) wrap(e ast.Expr, scope *types.Scope, f func(*jen.Statement) *jen.Statement) *jen.Statement {
	if code := p.expr(e, scope); code != nil {
		return f(code)
	}
	return nil
}

// object returns the name of a package-level or predeclared object, or nil if the target cannot name it.
func (p *printer) object(obj types.Object) *jen.Statement {
	switch {
	case obj == nil:
		return nil
	case obj.Pkg() == nil:
		if p.hidden(obj.Name()) {
			return nil
		}
		p.names.add(obj.Name())
		return jen.Id(obj.Name())
	case obj.Parent() != obj.Pkg().Scope():
		return nil
	case p.isLocal(obj.Pkg()):
		p.names.add(obj.Name())
	case obj.Exported() && importable(obj.Pkg(), p.target.Path()):
		p.packages[obj.Pkg().Path()] = obj.Pkg()
	default:
		return nil
	}
	return jen.Qual(obj.Pkg().Path(), obj.Name())
}
