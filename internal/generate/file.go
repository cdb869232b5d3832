// Package generate turns one parsed file into the source of its decorators.
//
// The code is built in one pass over a plan: every name is chosen before the first line is written, see [scope], and
// every mistake that the plan finds is reported at its position in the user's source.
package generate

import (
	"github.com/dave/jennifer/jen"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

const (
	runtimePath   = "github.com/ratelimitgen/ratelimitgen/runtime"
	httplimitPath = runtimePath + "/httplimit"
)

// File returns the source of the decorators of the file's interfaces: the same bytes for the same input, formatted as
// gofmt does. The error is [parse.Diagnostics], of which each names a mistake in the user's source or what is not
// supported yet. Whether the source compiles is for [Verify] to say.
func File(f *parse.File) ([]byte, error) {
	b := newBuilder(f)
	decorators, err := b.plan()
	if err != nil {
		return nil, err
	}
	b.nameImports(decorators)
	for _, d := range decorators {
		d.nameLocals()
	}

	code := jen.NewFilePathName(b.target.Types.Path(), b.target.Types.Name())
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
	text, err := source(code, b.origin(), f.Constraint)
	if err != nil {
		return nil, parse.Diagnostics{syntaxFault(f, text, err)}
	}
	return text, nil
}

// Check returns the error of [File] for a file whose directives need not all have their source at hand. Of the expressions
// of those that have not it knows what [Abroad] has found.
func Check(f *parse.File) error {
	_, err := newBuilder(f).plan()
	return err
}

// plan returns the decorators of the file's interfaces.
func (b *builder) plan() ([]*decorator, error) {
	if pos, ok := b.target.Names["nil"]; ok {
		b.mistakes.add(pos, "nil: decorators need the predeclared one: want another name")
	}
	decorators := make([]*decorator, len(b.source.Interfaces))
	for i, iface := range b.source.Interfaces {
		decorators[i] = b.decorator(iface)
	}
	return decorators, b.mistakes.err()
}
