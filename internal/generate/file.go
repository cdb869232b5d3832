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
	"path/filepath"
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
// supported yet.
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
	return source(code, f.Constraint)
}

// builder is what the decorators of one file have in common.
type builder struct {
	source   *parse.File
	local    *types.Package
	imports  *imports
	mistakes *mistakes
}

func newBuilder(f *parse.File) *builder {
	return &builder{
		source:   f,
		local:    f.Package.Types,
		mistakes: newMistakes(f.Package.Fset),
		imports:  newImports(),
	}
}

// hidden reports whether the package declares a predeclared name anew.
func (b *builder) hidden(name string) bool {
	_, ok := b.source.Package.Names[name]
	return ok
}

// checkName reports a name of ours that the package declares.
func (b *builder) checkName(iface *parse.Interface, name string) {
	pos, taken := b.source.Package.Names[name]
	if !taken {
		return
	}
	at := b.source.Package.Fset.PositionFor(pos, false)
	b.mistakes.add(iface.Object.Pos(), fmt.Sprintf("%s: declared in %s:%d:%d: want another name there, this is the decorator's",
		name, filepath.Base(at.Filename), at.Line, at.Column))
}

// position returns where to report a mistake about the method: at its name, or at the interface if another package
// declares it.
func (b *builder) position(iface *parse.Interface, m *parse.Method) token.Pos {
	if m.Func.Pkg() == b.local {
		return m.Func.Pos()
	}
	return iface.Object.Pos()
}
