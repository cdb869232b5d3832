package generate

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// lengths are those of arrays as the source spells them, where that is not a plain number. A type has but the value, which
// may be another one on another platform, as that of strconv.IntSize is.
type lengths struct {
	fset    *token.FileSet
	files   map[string]*ast.File
	spelled map[*types.Array]length
	held    map[types.Type][]*types.Array // spelled ones in a type
}

// length is an expression, and where the names in it are looked up.
type length struct {
	expr  ast.Expr
	scope *types.Scope
}

// isSize reports whether the length is made of the sizes of types in memory: what package unsafe returns has a type that
// few other constants have.
func (l length) isSize() bool {
	found := false
	ast.Inspect(l.expr, func(n ast.Node) bool {
		if ident, ok := n.(*ast.Ident); ok {
			switch obj := lookUp(l.scope, ident.Name).(type) {
			case *types.PkgName:
				found = found || obj.Imported() == types.Unsafe
			case *types.Const:
				found = found || types.Identical(obj.Type(), types.Typ[types.Uintptr])
			}
		}
		return true
	})
	return found
}

// lookUp returns what a name means in a scope, or nil.
func lookUp(scope *types.Scope, name string) types.Object {
	if scope == nil {
		return nil
	}
	_, obj := scope.LookupParent(name, token.NoPos)
	return obj
}

func newLengths() *lengths {
	return &lengths{
		fset:    token.NewFileSet(),
		files:   map[string]*ast.File{},
		spelled: map[*types.Array]length{},
		held:    map[types.Type][]*types.Array{},
	}
}

// anArray finds arrays in the text of a type, which is all there is to do for nearly every signature.
var anArray = regexp.MustCompile(`\[\d`)

// readMethod notes the lengths in a method's signature. Its source is parsed anew: it may be any file of any package.
func (l *lengths) readMethod(fset *token.FileSet, m *types.Func) {
	if !anArray.MatchString(types.TypeString(m.Type(), nil)) {
		return
	}
	at := fset.PositionFor(m.Pos(), false)
	ast.Inspect(l.file(at.Filename), func(n ast.Node) bool {
		if field, ok := n.(*ast.Field); ok && len(field.Names) > 0 && l.offset(field.Names[0]) == at.Offset {
			r := lengthReader{l, m.Pkg().Scope().Innermost(m.Pos())}
			r.read(field.Type, m.Type())
		}
		return true
	})
}

// readDeclaration notes the lengths in what is no signature: the constraints of an interface's type parameters, and the
// type arguments of what it embeds.
func (l *lengths) readDeclaration(fset *token.FileSet, iface *parse.Interface) {
	params, obj := iface.TypeParams, iface.Object
	t := obj.Type().Underlying()
	if alias, ok := obj.Type().(*types.Alias); ok {
		t = alias.Rhs()
	}
	text := types.TypeString(t, nil)
	for i := range params.Len() {
		text += types.TypeString(params.At(i).Constraint(), nil)
	}
	if !anArray.MatchString(text) {
		return
	}
	at := fset.PositionFor(obj.Pos(), false)
	ast.Inspect(l.file(at.Filename), func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok && l.offset(spec.Name) == at.Offset {
			r := lengthReader{l, obj.Pkg().Scope().Innermost(obj.Pos())}
			r.readFields(spec.TypeParams, params.Len(), func(i int) types.Type { return params.At(i).Constraint() })
			r.read(spec.Type, t)
		}
		return true
	})
}

// file returns the syntax of a file, empty if there is none.
func (l *lengths) file(path string) *ast.File {
	file := l.files[path]
	if file == nil {
		if file, _ = parser.ParseFile(l.fset, path, nil, parser.SkipObjectResolution); file == nil {
			file = &ast.File{Name: ast.NewIdent("_")}
		}
		l.files[path] = file
	}
	return file
}

func (l *lengths) offset(n ast.Node) int { return l.fset.PositionFor(n.Pos(), false).Offset }

// lengthReader walks a type together with the expression that spells it.
type lengthReader struct {
	*lengths
	scope *types.Scope
}

// read notes the lengths in a type and returns the arrays that have them.
func (r *lengthReader) read(expr ast.Expr, t types.Type) []*types.Array {
	found := r.readParts(ast.Unparen(expr), t)
	if len(found) > 0 {
		r.held[t] = found
	}
	return found
}

func (r *lengthReader) readParts(expr ast.Expr, t types.Type) []*types.Array {
	elem := func(expr ast.Expr) []*types.Array {
		if t, ok := t.(interface{ Elem() types.Type }); ok {
			return r.read(expr, t.Elem())
		}
		return nil
	}
	if i, ok := t.(*types.Interface); ok && i.IsImplicit() {
		return r.readUnion(expr, i.EmbeddedType(0))
	}
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return elem(expr.X)
	case *ast.Ellipsis:
		return elem(expr.Elt)
	case *ast.ChanType:
		return elem(expr.Value)
	case *ast.ArrayType:
		found := elem(expr.Elt)
		if array, ok := t.(*types.Array); ok {
			if _, plain := ast.Unparen(expr.Len).(*ast.BasicLit); !plain {
				r.spelled[array] = length{expr.Len, r.scope}
				found = append(found, array)
			}
		}
		return found
	case *ast.MapType:
		if m, ok := t.(*types.Map); ok {
			return slices.Concat(r.read(expr.Key, m.Key()), r.read(expr.Value, m.Elem()))
		}
	case *ast.FuncType:
		if sig, ok := t.(*types.Signature); ok {
			return slices.Concat(r.readTuple(expr.Params, sig.Params()), r.readTuple(expr.Results, sig.Results()))
		}
	case *ast.StructType:
		if s, ok := t.(*types.Struct); ok {
			return r.readFields(expr.Fields, s.NumFields(), func(i int) types.Type { return s.Field(i).Type() })
		}
	case *ast.InterfaceType:
		if i, ok := t.(*types.Interface); ok {
			return r.readInterface(expr, i)
		}
	case *ast.IndexExpr:
		return r.readTypeArgs([]ast.Expr{expr.Index}, t)
	case *ast.IndexListExpr:
		return r.readTypeArgs(expr.Indices, t)
	}
	return nil
}

func (r *lengthReader) readTuple(list *ast.FieldList, vars *types.Tuple) []*types.Array {
	return r.readFields(list, vars.Len(), func(i int) types.Type { return vars.At(i).Type() })
}

func (r *lengthReader) readFields(list *ast.FieldList, n int, at func(i int) types.Type) (found []*types.Array) {
	if list == nil {
		return nil
	}
	i := 0
	for _, field := range list.List {
		for range max(1, len(field.Names)) {
			if i < n {
				found = append(found, r.read(field.Type, at(i))...)
			}
			i++
		}
	}
	return found
}

func (r *lengthReader) readInterface(expr *ast.InterfaceType, t *types.Interface) (found []*types.Array) {
	embedded := 0
	for _, field := range expr.Methods.List {
		if len(field.Names) == 0 {
			if embedded < t.NumEmbeddeds() {
				found = append(found, r.readUnion(field.Type, t.EmbeddedType(embedded))...)
			}
			embedded++
			continue
		}
		for m := range t.ExplicitMethods() {
			if m.Name() == field.Names[0].Name {
				found = append(found, r.read(field.Type, m.Type())...)
			}
		}
	}
	return found
}

// readUnion reads the terms of a constraint, ~A | B.
func (r *lengthReader) readUnion(expr ast.Expr, t types.Type) (found []*types.Array) {
	union, ok := t.(*types.Union)
	if !ok {
		return r.read(expr, t)
	}
	for i := union.Len() - 1; i >= 0; i-- {
		term := expr
		if or, ok := expr.(*ast.BinaryExpr); ok {
			expr, term = or.X, or.Y
		}
		if tilde, ok := term.(*ast.UnaryExpr); ok {
			term = tilde.X
		}
		found = append(found, r.read(term, union.Term(i).Type())...)
	}
	return found
}

func (r *lengthReader) readTypeArgs(exprs []ast.Expr, t types.Type) (found []*types.Array) {
	if named, ok := t.(interface{ TypeArgs() *types.TypeList }); ok {
		for i, expr := range exprs[:min(len(exprs), named.TypeArgs().Len())] {
			found = append(found, r.read(expr, named.TypeArgs().At(i))...)
		}
	}
	return found
}

// length returns the length of an array as the source has it, or else, where no code of the package can say that, its
// value.
func (p *printer) length(t *types.Array) *jen.Statement {
	if l, ok := p.lengths.spelled[t]; ok {
		if code := p.expr(l.expr, l.scope); code != nil {
			return code
		}
		if l.isSize() {
			p.problems = append(p.problems, fmt.Sprintf("[%s] depends on the platform: want a constant that has a name here", types.ExprString(l.expr)))
		}
	}
	return jen.Id(strconv.FormatInt(t.Len(), 10))
}
