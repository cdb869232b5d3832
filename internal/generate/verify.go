package generate

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// Verify type-checks what [File] has returned for files whose decorators go into the package, before it is written. All
// that it reports is a fault of this generator, at the interface that it concerns. It is silent where it cannot tell,
// see [parse.Package.Verify].
func Verify(pkg *parse.Package, sources map[*parse.File][]byte) parse.Diagnostics {
	var faults parse.Diagnostics
	generated := map[*parse.File]*ast.File{}
	for _, f := range pkg.Sources() {
		source, ok := sources[f]
		if !ok {
			continue
		}
		syntax, err := parser.ParseFile(pkg.Fset, Path(f), source, parser.SkipObjectResolution)
		if err != nil {
			faults = append(faults, syntaxFault(f, source, err))
			continue
		}
		generated[f] = syntax
	}
	if len(faults) > 0 {
		return faults
	}
	reported := map[*parse.Interface]bool{}
	for _, err := range pkg.Verify(generated, Stubs) {
		for f, syntax := range generated {
			if syntax.FileStart > err.Pos || err.Pos > syntax.FileEnd {
				continue
			}
			if iface := concerned(f, syntax, err.Pos); !reported[iface] { // others may follow from the first
				reported[iface] = true
				line := pkg.Fset.PositionFor(err.Pos, false).Line
				faults = append(faults, fault(f, iface, strings.Join(strings.Fields(err.Msg), " "), lineOf(sources[f], line)))
			}
		}
	}
	return faults
}

// concerned returns the interface whose decorator is at pos, or the first one if that is before all decorators.
func concerned(f *parse.File, syntax *ast.File, pos token.Pos) *parse.Interface {
	found := f.Interfaces[0]
	for _, decl := range syntax.Decls {
		decl, ok := decl.(*ast.GenDecl)
		if !ok || decl.Tok != token.TYPE || decl.Pos() > pos {
			continue
		}
		for _, iface := range f.Interfaces {
			if name, _ := decoratorNames(iface.Name); name == decl.Specs[0].(*ast.TypeSpec).Name.Name {
				found = iface
			}
		}
	}
	return found
}

// fault reports code for an interface that does not compile, by the checker's words and the line that they are about.
func fault(f *parse.File, iface *parse.Interface, words, line string) parse.Diagnostic {
	return parse.Diagnostic{
		Pos: f.Package.Fset.PositionFor(iface.Object.Pos(), false),
		Message: fmt.Sprintf("%s: fault of ratelimitgen: the code for this interface would not compile: %s, in %q: please report it at %s",
			iface.Name, words, line, "https://github.com/ratelimitgen/ratelimitgen/issues"),
	}
}

// syntaxFault reports code that does not parse.
func syntaxFault(f *parse.File, source []byte, err error) parse.Diagnostic {
	words, line := err.Error(), ""
	var list scanner.ErrorList
	if errors.As(err, &list) {
		words, line = list[0].Msg, lineOf(source, list[0].Pos.Line)
	}
	return fault(f, f.Interfaces[0], words, line)
}

// lineOf returns a line of a text, which are counted from 1, without its indent.
func lineOf(text []byte, number int) string {
	for line := range bytes.Lines(text) {
		if number--; number == 0 {
			return string(bytes.TrimSpace(line))
		}
	}
	return ""
}
