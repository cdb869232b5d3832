package parse

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

// WhyUndefined returns the mistake of an import by which a name may be undefined in the file that holds pos, or nil. A name that
// stands before a dot may be that of a package. It is certain if the path of the import ends in it.
func (p *Package) WhyUndefined(pos token.Pos, name string, isQualifier bool) (mistake *Diagnostic, isCertain bool) {
	r := &resolver{source: p.source, checked: p.checked}
	if file := r.fileAt(pos); file != nil {
		isCertain = r.blameImport(file, name, isQualifier)
	}
	return r.first(), isCertain
}

// first returns the first of the mistakes, or nil.
func (r *resolver) first() *Diagnostic {
	if len(r.diags) == 0 {
		return nil
	}
	return &r.diags[0]
}

// blameImport reports the mistake of an import of the file that is to blame for an undefined name, if there is one: the import
// whose name that may be, or else one of which nobody knows what it is called, or what names it brings with a dot. It reports
// whether the import is all that there is to say.
func (r *resolver) blameImport(file *sourceFile, name string, isQualifier bool) (isAll bool) {
	before := len(r.diags)
	if spec := file.imports[name]; isQualifier && spec != nil {
		r.importErrors(file, pathOf(spec))
		return len(r.diags) > before
	}
	for _, spec := range file.syntax.Imports {
		mayBring := spec.Name != nil && spec.Name.Name == "." && !isQualifier && token.IsExported(name)
		mayBeCalled := spec.Name == nil && isQualifier && !r.qualifies(file, nameFor(pathOf(spec)))
		if mayBring || mayBeCalled {
			r.importErrors(file, pathOf(spec))
		}
		if len(r.diags) > before {
			break
		}
	}
	return false
}

// importErrors reports what is wrong with the import of a path: the type checker complains about one of them in the package only.
func (r *resolver) importErrors(file *sourceFile, path string) {
	for _, other := range r.packageOf(file).files {
		for _, same := range other.syntax.Imports {
			if pathOf(same) == path {
				r.errorsIn(same)
			}
		}
	}
}

// qualifies reports whether a file has the name before a dot somewhere behind its imports: in a declaration, in a function body,
// which is not parsed, or in a directive.
func (r *resolver) qualifies(file *sourceFile, name string) bool {
	imports := file.syntax.Imports
	start := r.fset.PositionFor(imports[len(imports)-1].End(), false).Offset
	return regexp.MustCompile(`\b` + name + `\.[\pL_]`).Match(file.src[min(start, len(file.src)):])
}

// qualifierAt reports whether a name at pos stands before a dot.
func (f *sourceFile) qualifierAt(pos token.Pos) bool {
	return f.anySelector(func(s *ast.SelectorExpr) bool { return s.X.Pos() == pos })
}

func (f *sourceFile) anySelector(is func(*ast.SelectorExpr) bool) bool {
	found := false
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			found = found || is(s)
		}
		return !found
	})
	return found
}

// undefinedName returns the name that an error says is undefined.
func undefinedName(message string) (string, bool) {
	name, ok := strings.CutPrefix(message, "undefined: ")
	return name, ok && token.IsIdentifier(name)
}
