package vet

import (
	"cmp"
	"fmt"
	"slices"

	"golang.org/x/tools/go/analysis"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// directives is a fact about a package: what a package that imports it must know. Since a package can embed an interface
// that it does not import itself, it holds what was known of the imports, too. A package without it has nothing to know.
type directives struct {
	Methods  []parse.MethodLines
	Mistakes []parse.Diagnostic // reported, and not to be reported again where the lines hold as well
}

// AFact makes it a fact.
func (*directives) AFact() {}

// String returns the methods with directives.
func (d *directives) String() string {
	names := make([]string, len(d.Methods))
	for i, m := range d.Methods {
		names[i] = m.Package + "." + m.Method
	}
	return fmt.Sprintf("directives on %v", names)
}

// importDirectives returns what is known about the imports of the package.
func importDirectives(pass *analysis.Pass) *directives {
	known := &directives{}
	for _, fact := range pass.AllPackageFacts() {
		if d, ok := fact.Fact.(*directives); ok {
			known.Methods = append(known.Methods, d.Methods...)
			known.Mistakes = append(known.Mistakes, d.Mistakes...)
		}
	}
	known.sort()
	return known
}

// export makes a fact about the package, if there is anything to know.
func (d *directives) export(pass *analysis.Pass) {
	if len(d.Methods) > 0 {
		d.sort()
		pass.ExportPackageFact(d)
	}
}

// sort gives the fact the same bytes every time, since drivers compare them, and drops what came by two ways.
func (d *directives) sort() {
	byPlace := func(a, b parse.MethodLines) int {
		return cmp.Or(cmp.Compare(a.Package, b.Package), parse.ComparePositions(a.Pos, b.Pos))
	}
	slices.SortFunc(d.Methods, byPlace)
	d.Methods = slices.CompactFunc(d.Methods, func(a, b parse.MethodLines) bool { return byPlace(a, b) == 0 })
	mistakes := parse.Diagnostics(d.Mistakes)
	mistakes.Sort()
	d.Mistakes = mistakes
}
