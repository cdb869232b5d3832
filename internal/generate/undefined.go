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
func (c *expressionCheck) wantName(message string, pkg *types.Package, scope *types.Scope) string {
	name, ok := strings.CutPrefix(message, "undefined: ")
	if !ok || !token.IsIdentifier(name) {
		return ""
	}
	isRefund, results := c.attr == "refund", c.method.sig.Results()
	switch {
	case isRefund && numbered.MatchString(name):
		return ": want " + numberRange("ret", results.Len(), "results")
	case !isRefund && results.Len() > 0 && (name == "err" || numbered.MatchString(name) || slices.Contains(names(results), name)):
		return ": want a parameter, results are for refund only"
	case c.attr == "key" && name == "ip":
		return ": want {@ip}"
	}
	known := slices.DeleteFunc(scope.Names(), func(name string) bool { return !token.IsIdentifier(name) })
	if meant := spelling.Nearest(name, append(known, pkg.Scope().Names()...), func(string) string { return "" }); meant != "" {
		return fmt.Sprintf(": did you mean %q?", meant)
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
	var selector *ast.SelectorExpr
	ast.Inspect(e.node, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Pos() == pos {
			selector = s
		}
		return true
	})
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
	} else if tv.Type != nil {
		known = membersOf(tv.Type, e.home)
	}
	if meant := spelling.Nearest(selector.Sel.Name, known, func(string) string { return "" }); meant != "" {
		return fmt.Sprintf(": did you mean %q?", meant)
	}
	return ": want " + want
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
		if obj.Exported() || obj.Pkg() == from {
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
