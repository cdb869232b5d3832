package generate

import (
	"go/types"

	"github.com/dave/jennifer/jen"
)

// zero is the zero value of a result in the return statement of a refused call.
type zero struct {
	value    *jen.Statement
	declared *jen.Statement // the declaration of the variable that value is, nil if it is none
	result   string         // the name of the result that value is, "" if it is none
}

// zeroValues returns the zero values of all results but the error: literals, or else variables, or else the results
// themselves, which need no type where the names of the body hide it.
func (m *method) zeroValues(hiding scope) []zero {
	results := m.sig.Results()
	zeros := make([]zero, max(0, results.Len()-1))
	var others []int
	for i := range zeros {
		if zeros[i].value = m.zeroLiteral(results.At(i).Type(), hiding); zeros[i].value == nil {
			others = append(others, i)
		}
	}
	taken := union(predeclared, hiding)
	taken.add(m.decorator.typeParams...)
	for n, i := range others {
		var name string
		if len(others) == 1 {
			name = taken.pick("zero")
		} else {
			name = taken.numbered("zero", n+1)
		}
		zeros[i].value = jen.Id(name)
		if t := results.At(i).Type(); m.mentions(t, hiding) {
			zeros[i].result = name
		} else {
			zeros[i].declared = jen.Var().Id(name).Add(m.decorator.printer.typ(t))
		}
	}
	return zeros
}

// zeroLiteral returns the zero value of t as one would write it, or nil if it is no short literal or mentions a name
// that is hidden.
func (m *method) zeroLiteral(t types.Type, hiding scope) *jen.Statement {
	word := func(name string) *jen.Statement {
		if hiding[name] || m.decorator.hidden(name) {
			return nil
		}
		return jen.Id(name)
	}
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return nil
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch info := u.Info(); {
		case info&types.IsBoolean != 0:
			return word("false")
		case info&types.IsString != 0:
			return jen.Lit("")
		case info&types.IsNumeric != 0:
			return jen.Lit(0)
		}
	case *types.Struct:
		if _, unnamed := t.(*types.Struct); unnamed && u.NumFields() > 0 || m.mentions(t, hiding) {
			return nil
		}
		return m.decorator.printer.typ(t).Values()
	case *types.Array:
		if m.mentions(t, hiding) {
			return nil
		}
		return m.decorator.printer.typ(t).Values()
	}
	return word("nil")
}

// mentions reports whether the type, as it is written in the file, mentions one of the names.
func (m *method) mentions(t types.Type, names scope) bool {
	p := m.decorator.newPrinter(m.decorator.printer.typeParams)
	p.typ(t)
	mentioned := union(p.names, p.params)
	for path := range p.packages {
		mentioned.add(m.decorator.imports.names[path])
	}
	for name := range mentioned {
		if names[name] {
			return true
		}
	}
	return false
}

// resultList returns the method's results, which have names only where [method.zeroValues] needs them.
func (m *method) resultList() *jen.Statement {
	names := make([]string, m.sig.Results().Len())
	for _, z := range m.zeros {
		if z.result == "" {
			continue
		}
		for i := range names {
			names[i] = "_"
		}
	}
	for i, z := range m.zeros {
		if z.result != "" {
			names[i] = z.result
		}
	}
	return m.decorator.printer.resultList(m.sig.Results(), names)
}
