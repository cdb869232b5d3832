package generate

import (
	"fmt"
	"go/types"
	"strings"

	"github.com/dave/jennifer/jen"
)

// render writes the decorator: type, assertion, constructor, and the methods in the interface's order.
func (d *decorator) render(code *jen.File) {
	d.renderType(code)
	d.renderAssertion(code)
	d.renderConstructor(code)
	if !d.has("Unwrap") {
		d.renderUnwrap(code)
	}
	for _, m := range d.methods {
		m.render(code)
	}
}

func (d *decorator) renderType(code *jen.File) {
	write(code, d.words())
	code.Type().Id(d.name).Add(d.typeParamList()).StructFunc(func(g *jen.Group) {
		if d.private == "" {
			g.Id(d.next).Add(d.decorated())
		} else {
			for _, line := range comment(1, fmt.Sprintf("Embedded for %s, which its own package keeps to itself. All other methods are forwarded below, "+
				"but one that is added to %s passes without a limit until go generate is run again.", d.private, d.ifaceName())) {
				g.Comment(line)
			}
			g.Add(d.decorated())
			g.Line()
		}
		for _, m := range d.methods {
			if m.guard != "" {
				g.Id(m.guard).Op("*").Qual(runtimePath, "Guard")
			}
		}
	})
}

// renderAssertion renders the line that fails to compile when the interface has changed.
func (d *decorator) renderAssertion(code *jen.File) {
	write(code, fmt.Sprintf("If this does not compile, %s has changed: run go generate again.", d.ifaceName()))
	assertion := jen.Var().Id("_").Add(d.decorated()).Op("=").Parens(jen.Op("*").Add(d.self())).Call(jen.Nil())
	if len(d.typeParams) > 0 {
		assertion = jen.Func().Id("_").Add(d.typeParamList()).Params().Block(assertion)
	}
	code.Add(assertion)
}

func (d *decorator) renderConstructor(code *jen.File) {
	write(code, fmt.Sprintf("%s returns a decorator of next that asks limiter before each limited call.", d.constructor))
	fields := []jen.Code{jen.Id(d.next).Op(":").Id("next")}
	for _, m := range d.methods {
		if m.guard != "" {
			fields = append(fields, jen.Id(m.guard).Op(":").Add(m.guardCall()))
		}
	}
	params := []jen.Code{jen.Id("next").Add(d.decorated()), jen.Id("limiter").Op("*").Qual(runtimePath, "Limiter")}
	signature := func(list *jen.Statement) *jen.Statement {
		return jen.Func().Id(d.constructor).Add(d.typeParamList(), list).Op("*").Add(d.self())
	}
	list := jen.Params(params...)
	if d.isWide(signature(list)) {
		list = lines(params...)
	}
	code.Add(signature(list)).Block(jen.Return(jen.Op("&").Add(d.self()).Add(literal(fields...))))
}

// isWide reports whether a signature has a line that is too wide.
func (d *decorator) isWide(signature *jen.Statement) bool {
	for line := range strings.Lines(d.text(jen.Add(signature).Block())) { // of which the last one ends in {}
		if width(strings.TrimRight(line, "\n}")) > lineWidth {
			return true
		}
	}
	return false
}

// literal is the body of a composite literal, on one line if it has one field.
func literal(fields ...jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: len(fields) > 1}, fields...)
}

// renderUnwrap renders the way back to the decorated value. In an error the method is the one that [errors.Unwrap]
// asks for, and go vet holds it to its signature.
func (d *decorator) renderUnwrap(code *jen.File) {
	result, text := d.decorated(), fmt.Sprintf("Unwrap returns the decorated [%s].", d.ifaceName())
	if !d.hidden("error") && types.Implements(d.iface.Object.Type(), types.Universe.Lookup("error").Type().Underlying().(*types.Interface)) {
		result, text = jen.Error(), fmt.Sprintf("Unwrap returns the decorated [%s], as errors do.", d.ifaceName())
	}
	write(code, text)
	code.Func().Params(d.receiverParam()).Id("Unwrap").Params().Add(result).Block(
		jen.Return(jen.Id(d.receiver).Dot(d.next)),
	)
}

// ifaceName is what the interface is called in the file.
func (d *decorator) ifaceName() string {
	if d.isElsewhere() {
		return d.imports.names[d.iface.Object.Pkg().Path()] + "." + d.iface.Name
	}
	return d.iface.Name
}

// decorated is the interface's type.
func (d *decorator) decorated() *jen.Statement {
	return d.withTypeArgs(jen.Qual(d.iface.Object.Pkg().Path(), d.iface.Name))
}

// self is the decorator's type.
func (d *decorator) self() *jen.Statement { return d.withTypeArgs(jen.Id(d.name)) }

func (d *decorator) withTypeArgs(name *jen.Statement) *jen.Statement {
	args := make([]jen.Code, len(d.typeParams))
	for i, param := range d.typeParams {
		args[i] = jen.Id(param)
	}
	return name.Types(args...)
}

func (d *decorator) receiverParam() *jen.Statement { return jen.Id(d.receiver).Op("*").Add(d.self()) }

func (d *decorator) typeParamList() *jen.Statement {
	params := mapEach(len(d.typeParams), func(i int) jen.Code {
		constraint := d.iface.TypeParams.At(i).Constraint()
		if i+1 < len(d.typeParams) && d.printer.sameSpelling(constraint, d.iface.TypeParams.At(i+1).Constraint()) {
			return jen.Id(d.typeParams[i])
		}
		return jen.Id(d.typeParams[i]).Add(d.printer.typ(constraint))
	})
	return jen.Types(params...)
}

// write renders a blank line and a comment.
func write(code *jen.File, text string) {
	code.Line()
	for _, line := range comment(0, text) {
		code.Comment(line)
	}
}
