package generate

import (
	"bytes"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/ratelimitgen/ratelimitgen/internal/parse"
)

// source renders the code under our header, which names its origin, and the build constraint, with its imports in
// groups. With a syntax error it returns the text that has it.
func source(code *jen.File, origin, constraint string) ([]byte, error) {
	var rendered bytes.Buffer
	if err := code.Render(&rendered); err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", rendered.Bytes(), parser.ImportsOnly)
	if err != nil {
		return rendered.Bytes(), err
	}

	var out, others bytes.Buffer
	out.WriteString(parse.HeaderFor(origin) + "\n")
	if constraint != "" {
		fmt.Fprintf(&out, "//go:build %s\n\n", constraint)
	}
	fmt.Fprintf(&out, "package %s\n\nimport (\n", file.Name.Name)
	for _, spec := range file.Imports { // sorted by path
		group := &others
		if path, err := strconv.Unquote(spec.Path.Value); err == nil && isStandard(path) {
			group = &out
		}
		if spec.Name != nil {
			group.WriteString(spec.Name.Name + " ")
		}
		group.WriteString(spec.Path.Value + "\n")
	}
	fmt.Fprintf(&out, "\n%s)\n", others.Bytes())
	out.Write(rendered.Bytes()[fset.Position(file.Decls[0].End()).Offset:]) // the imports are one declaration

	formatted, err := format.Source(out.Bytes())
	if err != nil {
		return out.Bytes(), err
	}
	return formatted, nil
}
