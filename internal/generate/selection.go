package generate

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/dave/jennifer/jen"
)

// selector returns the code of a field, of a method's name, or of what another package declares.
func (w *lowering) selector(e *ast.SelectorExpr) *jen.Statement {
	selection := w.info.Selections[e]
	if selection == nil {
		return w.object(w.info.Uses[e.Sel])
	}
	if !routeOf(selection).mayBeNil() {
		w.checkExported(selection)
		return w.value(e.X).Dot(e.Sel.Name)
	}
	return w.selected(e, selection).code
}

// selected returns a field, or the name of a method, of a value that is needed more than once.
func (w *lowering) selected(e *ast.SelectorExpr, selection *types.Selection) place {
	w.checkExported(selection)
	pl := w.place(e.X)
	w.requireRoute(pl, routeOf(selection))
	return pl.dot(e.Sel.Name)
}

func (w *lowering) checkExported(selection *types.Selection) {
	if obj := selection.Obj(); !obj.Exported() && !w.p.isLocal(obj.Pkg()) {
		w.p.problems = append(w.p.problems, memberName(routeOf(selection).holder(), obj)+" is not exported")
	}
}

// memberName is what a field or method is called in messages, with the type that has it: svc.Request.id.
func memberName(holder types.Type, obj types.Object) string {
	if named, ok := holder.(interface{ Obj() *types.TypeName }); ok && named.Obj().Pkg() != nil {
		return named.Obj().Pkg().Name() + "." + named.Obj().Name() + "." + obj.Name()
	}
	return obj.Pkg().Name() + "." + obj.Name()
}

// route leads from a value to a field or method of it, over fields that are embedded.
type route struct {
	from  types.Type
	index []int // as in [types.Selection]
}

func routeOf(selection *types.Selection) route { return route{selection.Recv(), selection.Index()} }

// mayBeNil reports whether there is a pointer or an interface on the way.
func (r route) mayBeNil() bool {
	nilable := false
	r.walk(func(t types.Type, _ *types.Var) { nilable = nilable || isNilable(t) })
	return nilable
}

// requireRoute requires that what is on the way from a value to its field or method is not nil.
func (w *lowering) requireRoute(pl place, r route) {
	holder := r.from
	r.walk(func(t types.Type, field *types.Var) {
		defer func() { holder = pointee(t) }()
		if field != nil {
			pl = pl.dot(field.Name())
		}
		if !isNilable(t) {
			return
		}
		if field != nil && !field.Exported() && !w.p.isLocal(field.Pkg()) {
			w.p.problems = append(w.p.problems, memberName(holder, field)+" may be nil and is not exported")
		}
		w.requireNotNil(pl)
	})
}

// holder returns the type that has the field or method.
func (r route) holder() types.Type {
	holder := r.from
	r.walk(func(t types.Type, _ *types.Var) { holder = pointee(t) })
	return holder
}

// pointee returns the type that a pointer points to, or the type itself if it is none.
func pointee(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// walk calls visit for the value, and then for each embedded field on the way, with its type. The field or method at the
// end is not visited.
func (r route) walk(visit func(t types.Type, field *types.Var)) {
	t := r.from
	visit(t, nil)
	for _, i := range r.index[:len(r.index)-1] {
		field := pointee(t).Underlying().(*types.Struct).Field(i)
		t = field.Type()
		visit(t, field)
	}
}

// isNilable reports whether a method of t or a field behind it cannot be used when a value of t is nil.
func isNilable(t types.Type) bool {
	if _, isParam := types.Unalias(t).(*types.TypeParam); !isParam && types.IsInterface(t) {
		return true
	}
	terms := termsOf(t)
	return len(terms) > 0 && !slices.ContainsFunc(terms, func(term types.Type) bool {
		_, isPointer := term.(*types.Pointer)
		return !isPointer
	})
}
