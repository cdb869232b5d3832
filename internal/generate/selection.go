package generate

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/dave/jennifer/jen"
)

// selector returns the code of a field, of a method's name, or of what another package declares.
func (w *lowering) selector(e *ast.SelectorExpr) *jen.Statement {
	selection := w.info.Selections[e]
	if selection == nil {
		return w.object(w.info.Uses[e.Sel])
	}
	if !mayBeNil(selection) {
		w.checkExported(selection)
		return w.value(e.X).Dot(e.Sel.Name)
	}
	return w.selected(e, selection).code
}

// selected returns a field, or the name of a method, of a value that is needed more than once.
func (w *lowering) selected(e *ast.SelectorExpr, selection *types.Selection) place {
	w.checkExported(selection)
	pl := w.place(e.X)
	w.requireSelection(pl, selection)
	return pl.dot(e.Sel.Name)
}

func (w *lowering) checkExported(selection *types.Selection) {
	if obj := selection.Obj(); !obj.Exported() && !w.p.isLocal(obj.Pkg()) {
		w.p.problems = append(w.p.problems, fmt.Sprintf("%s.%s is not exported", obj.Pkg().Name(), obj.Name()))
	}
}

// mayBeNil reports whether there is a pointer or an interface on the way to a field or method.
func mayBeNil(selection *types.Selection) bool {
	nilable := false
	walk(selection, func(t types.Type, _ *types.Var) { nilable = nilable || isNilable(t) })
	return nilable
}

// requireSelection requires that what is on the way from a value to its field or method is not nil.
func (w *lowering) requireSelection(pl place, selection *types.Selection) {
	walk(selection, func(t types.Type, field *types.Var) {
		if field != nil {
			pl = pl.dot(field.Name())
		}
		if !isNilable(t) {
			return
		}
		if field != nil && !field.Exported() && !w.p.isLocal(field.Pkg()) {
			w.p.problems = append(w.p.problems, fmt.Sprintf("%s.%s may be nil and is not exported", field.Pkg().Name(), field.Name()))
		}
		w.requireNotNil(pl)
	})
}

// walk calls visit for the value of a selection, and then for each embedded field on the way, with its type. The field or
// method at the end is not visited.
func walk(selection *types.Selection, visit func(t types.Type, field *types.Var)) {
	t := selection.Recv()
	visit(t, nil)
	index := selection.Index()
	for _, i := range index[:len(index)-1] {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		field := t.Underlying().(*types.Struct).Field(i)
		t = field.Type()
		visit(t, field)
	}
}

// isNilable reports whether a method of t or a field behind it cannot be used when a value of t is nil.
func isNilable(t types.Type) bool {
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Interface:
		return true
	}
	return false
}
