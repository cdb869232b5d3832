// Package generate turns one parsed file into the source of its decorators.
//
// The code is built in one pass over a plan: every name is chosen before the first line is written, see [scope], and
// every mistake that the plan finds is reported at its position in the user's source.
package generate

import (
	"bytes"
	"fmt"
	"go/token"
	"go/types"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

const (
	runtimePath   = "github.com/ratelimitgen/ratelimitgen/runtime"
	httplimitPath = runtimePath + "/httplimit"
)

// Output returns the path of the file that holds the decorators for the source file at path: users_ratelimit.go for
// users.go, and users_ratelimit_test.go for users_test.go.
func Output(path string) string {
	if base, ok := strings.CutSuffix(path, "_test.go"); ok {
		return base + "_ratelimit_test.go"
	}
	return strings.TrimSuffix(path, ".go") + "_ratelimit.go"
}

// Source returns the path of the source file whose decorators are in the file at path, and whether path is such a file's.
func Source(path string) (string, bool) {
	if base, ok := strings.CutSuffix(path, "_ratelimit_test.go"); ok {
		return base + "_test.go", true
	}
	base, ok := strings.CutSuffix(path, "_ratelimit.go")
	return base + ".go", ok
}

// IsOutput reports whether a file is ours to overwrite and to remove: it has our header, or is blank as a run that was cut
// short may have left it.
func IsOutput(content []byte) bool {
	return parse.HasHeader(content) || len(bytes.TrimSpace(content)) == 0
}

// File returns the source of the decorators of the file's interfaces: the same bytes for the same input, formatted as
// gofmt does. The error is [parse.Diagnostics], of which each names a mistake in the user's source or what is not
// supported yet. Whether the source compiles is for [Verify] to say.
func File(f *parse.File) ([]byte, error) {
	b := newBuilder(f)
	if pos, ok := f.Package.Names["nil"]; ok {
		b.mistakes.add(pos, "nil: decorators need the predeclared one: want another name")
	}
	decorators := make([]*decorator, len(f.Interfaces))
	for i, iface := range f.Interfaces {
		decorators[i] = b.decorator(iface)
	}
	if err := b.mistakes.err(); err != nil {
		return nil, err
	}
	b.nameImports(decorators)
	for _, d := range decorators {
		d.nameLocals()
	}

	code := jen.NewFilePathName(f.Package.Types.Path(), f.Syntax.Name.Name)
	code.NoFormat = true // the imports are to be grouped first
	b.imports.declare(code)
	for _, line := range comment(0, "This file and the runtime must fit together. If the next line does not compile, update "+
		"github.com/ratelimitgen/ratelimitgen and run go generate again.") {
		code.Comment(line)
	}
	code.Const().Id("_").Op("=").Qual(runtimePath, "GeneratedV1")
	for _, d := range decorators {
		d.render(code)
	}
	text, err := source(code, f.Constraint)
	if err != nil {
		return nil, parse.Diagnostics{syntaxFault(f, text, err)}
	}
	return text, nil
}

// builder is what the decorators of one file have in common.
type builder struct {
	source   *parse.File
	local    *types.Package
	imports  *imports
	mistakes *mistakes
	lengths  *lengths
}

func newBuilder(f *parse.File) *builder {
	return &builder{
		source:   f,
		local:    f.Package.Types,
		mistakes: newMistakes(f.Package.Fset),
		imports:  newImports(),
		lengths:  newLengths(),
	}
}

// hidden reports whether the package declares a predeclared name anew.
func (b *builder) hidden(name string) bool {
	_, ok := b.source.Package.Names[name]
	return ok
}

// checkNames reports the names of the interface's decorator that are taken: by what the package declares, or by another
// decorator, since two letters may have one upper case.
func (b *builder) checkNames(iface *parse.Interface, decorator, constructor string) {
	position := func(pos token.Pos) token.Position { return b.source.Package.Fset.PositionFor(pos, false) }
	here := iface.Object.Pos()
	for _, name := range []string{decorator, constructor} {
		if pos, taken := b.source.Taken(name); taken {
			b.mistakes.add(here, fmt.Sprintf("%s: declared in %s: want another name there, this is the decorator's",
				name, relativeTo(position(here), position(pos))))
		}
	}
	for _, file := range b.source.Package.Files {
		for _, other := range file.Interfaces {
			if name, _ := decoratorNames(other.Name); name == decorator && other.Name != iface.Name {
				b.mistakes.add(here, fmt.Sprintf("%s: also the decorator of %s in %s: want another name for one of the two",
					name, other.Name, relativeTo(position(here), position(other.Object.Pos()))))
			}
		}
	}
}

// position returns where to report a mistake about the method: at its name, or at the interface if another package
// declares it.
func (b *builder) position(iface *parse.Interface, m *parse.Method) token.Pos {
	if m.Func.Pkg() == b.local {
		return m.Func.Pos()
	}
	return iface.Object.Pos()
}
