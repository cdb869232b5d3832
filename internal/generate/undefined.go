package generate

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"github.com/ratelimitgen/ratelimitgen/internal/spelling"
)

// wantName says what may stand for a name that means nothing, or nothing about other mistakes.
func (e *expression) wantName(message string, pos token.Pos, scope *types.Scope) string {
	name, ok := strings.CutPrefix(message, "undefined: ")
	if !ok || !token.IsIdentifier(name) {
		return ""
	}
	isRefund, results := e.attr == "refund", e.method.sig.Results()
	switch {
	case isRefund && numbered.MatchString(name):
		return ": want " + numberRange("ret", results.Len(), "results")
	case !isRefund && results.Len() > 0 && (name == "err" || numbered.MatchString(name) || slices.Contains(names(results), name)):
		return ": want a parameter, results are for refund only"
	case e.attr == "key" && name == "ip":
		return ": want {@ip}"
	}
	mistake, isCertain := e.builder.source.Package.WhyUndefined(e.limit.Pos, name, e.isQualifier(pos))
	if isCertain {
		return ": " + mistake.Want()
	}
	known := slices.DeleteFunc(scope.Names(), func(name string) bool { return !token.IsIdentifier(name) })
	if meant := spelling.Nearest(name, append(known, e.home.Scope().Names()...), func(string) string { return "" }); meant != "" {
		return fmt.Sprintf(": did you mean %q?", meant)
	}
	if mistake != nil {
		return ": " + mistake.Want()
	}
	if isRefund {
		return ": want a parameter, a result, or a name of the file or the package"
	}
	return ": want a parameter, or a name of the file or the package"
}

// wantMember says what may stand behind a dot for what there is not, or nothing about other mistakes.
func (e *expression) wantMember(message string, pos token.Pos) string {
	if !strings.Contains(message, "undefined") {
		return ""
	}
	selector := e.selector(func(s *ast.SelectorExpr) bool { return s.Sel.Pos() == pos })
	if selector == nil {
		return ""
	}
	var known []string
	want := "a field or a method that there is"
	if imported, ok := e.importedBy(selector.X); ok {
		known = slices.DeleteFunc(imported.Scope().Names(), func(name string) bool { return !token.IsExported(name) })
		want = "a name of that package"
	} else if tv := e.info.Types[selector.X]; tv.IsType() {
		want = "a field or a method of a value"
	} else if inner := e.pointedTo(tv.Type, selector.Sel.Name); inner {
		return ": want (*" + types.ExprString(selector.X) + ")." + selector.Sel.Name
	} else if tv.Type != nil {
		if mistake := e.builder.source.Package.WhyIncomplete(tv.Type); mistake != nil {
			return ": " + mistake.Want()
		}
		known = membersOf(tv.Type, e.home)
	}
	if meant := spelling.Nearest(selector.Sel.Name, known, func(string) string { return "" }); meant != "" {
		return fmt.Sprintf(": did you mean %q?", meant)
	}
	return ": want " + want
}

// pointedTo reports whether a value is a pointer to something that has the field or method, which it has not itself: a pointer to
// a pointer, or to an interface.
func (e *expression) pointedTo(t types.Type, name string) bool {
	if t == nil {
		return false
	}
	pointer, ok := t.Underlying().(*types.Pointer)
	if !ok {
		return false
	}
	obj, _, _ := types.LookupFieldOrMethod(pointer.Elem(), true, e.home, name)
	return obj != nil
}

// selector returns a selector of the expression, or nil.
func (e *expression) selector(is func(*ast.SelectorExpr) bool) *ast.SelectorExpr {
	var found *ast.SelectorExpr
	ast.Inspect(e.node, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && is(s) {
			found = s
		}
		return found == nil
	})
	return found
}

// isQualifier reports whether a name at pos stands before a dot.
func (e *expression) isQualifier(pos token.Pos) bool {
	return e.selector(func(s *ast.SelectorExpr) bool { return s.X.Pos() == pos }) != nil
}

// importedBy returns the package that an expression is the name of, and whether it is that.
func (e *expression) importedBy(x ast.Expr) (*types.Package, bool) {
	name, ok := x.(*ast.Ident)
	if !ok {
		return nil, false
	}
	imported, ok := e.info.Uses[name].(*types.PkgName)
	if !ok {
		return nil, false
	}
	return imported.Imported(), true
}

// membersOf returns the names of the fields and methods of a value that code of the package can mention.
func membersOf(t types.Type, from *types.Package) []string {
	var names []string
	add := func(obj types.Object) {
		if obj.Exported() || obj.Pkg().Path() == from.Path() { // that of cgo is another package of the same path
			names = append(names, obj.Name())
		}
	}
	pointer, isPointer := t.Underlying().(*types.Pointer)
	if isPointer {
		t = pointer.Elem()
	}
	seen := map[types.Type]bool{}
	var addFields func(t types.Type)
	addFields = func(t types.Type) {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		s, ok := t.Underlying().(*types.Struct)
		if !ok || seen[t] {
			return
		}
		seen[t] = true
		for field := range s.Fields() {
			add(field)
			if field.Embedded() {
				addFields(field.Type())
			}
		}
	}
	addFields(t)
	if !types.IsInterface(t) {
		t = types.NewPointer(t)
	}
	for method := range types.NewMethodSet(t).Methods() {
		add(method.Obj())
	}
	return names
}

// numbered is what expressions call a result.
var numbered = regexp.MustCompile(`^ret[0-9]+$`)
