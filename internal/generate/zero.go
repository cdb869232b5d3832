package generate

import (
	"go/token"
	"go/types"
	"slices"

	"github.com/dave/jennifer/jen"
)

// zero is the zero value of a result in the return statement of a refused call.
type zero struct {
	value    *jen.Statement
	declared *jen.Statement // the declaration of the variable that value is, nil if it is none
	result   string         // the name of the result that value is, "" if it is none
}

// zeroValues returns the zero values of all results but the error: literals, or else variables, or else the results
// themselves, which need no type where the names of the body hide it. Variables are called like none of the taken names, and
// each is for all results of its type.
func (m *method) zeroValues(hiding, taken scope) []zero {
	results := m.sig.Results()
	zeros := make([]zero, max(0, results.Len()-1))
	var groups [][]int // results that have one variable
	for i := range zeros {
		t := results.At(i).Type()
		if zeros[i].value = m.zeroLiteral(t, hiding); zeros[i].value != nil {
			continue
		}
		same := slices.IndexFunc(groups, func(group []int) bool {
			return types.Identical(results.At(group[0]).Type(), t) && !m.mentions(t, hiding)
		})
		if same < 0 {
			groups = append(groups, []int{i})
		} else {
			groups[same] = append(groups[same], i)
		}
	}
	for n, group := range groups {
		var name string
		if len(groups) == 1 {
			name = taken.pick("zero")
		} else {
			name = taken.numbered("zero", n+1)
		}
		for _, i := range group {
			zeros[i].value = jen.Id(name)
		}
		first := &zeros[group[0]]
		if t := results.At(group[0]).Type(); m.mentions(t, hiding) {
			first.result = name
		} else {
			first.declared = jen.Var().Id(name).Add(m.decorator.printer.typ(t))
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
		case u.Kind() == types.Invalid: // a type that is defined by one of C
			return nil
		case info&types.IsBoolean != 0:
			return word("false")
		case info&types.IsString != 0:
			return jen.Lit("")
		case info&types.IsNumeric != 0:
			return jen.Lit(0)
		}
	case *types.Struct:
		if _, unnamed := t.(*types.Struct); unnamed && u.NumFields() > 0 && !holdsLock(t) || m.mentions(t, hiding) {
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

// locker is [sync.Locker], made here since a package that does not import sync has none.
var locker = func() *types.Interface {
	var methods []*types.Func
	for _, name := range []string{"Lock", "Unlock"} {
		methods = append(methods, types.NewFunc(token.NoPos, nil, name, types.NewSignatureType(nil, nil, nil, nil, nil, false)))
	}
	return types.NewInterfaceType(methods, nil).Complete()
}()

// holdsLock reports whether go vet minds copies of the type's values: a variable that is zero must not be returned, but a
// literal may.
func holdsLock(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Array:
		return holdsLock(u.Elem())
	case *types.Struct:
		if types.Implements(types.NewPointer(t), locker) && !types.Implements(t, locker) {
			return true
		}
		for field := range u.Fields() {
			if holdsLock(field.Type()) {
				return true
			}
		}
	}
	return false
}

// mentions reports whether the type, as it is written in the file, mentions one of the names.
func (m *method) mentions(t types.Type, names scope) bool {
	for name := range m.mentioned(t) {
		if names[name] {
			return true
		}
	}
	return false
}

// mentioned returns the names that the type mentions as it is written in the file.
func (m *method) mentioned(t types.Type) scope {
	p := m.decorator.newPrinter(m.decorator.printer.typeParams)
	p.typ(t)
	mentioned := union(p.names, p.params)
	for path := range p.packages {
		mentioned.add(m.decorator.imports.names[path])
	}
	return mentioned
}

// mentionedResults returns the names that the types of the results mention, which zero values may need.
func (m *method) mentionedResults() scope {
	all := scope{}
	for v := range m.sig.Results().Variables() {
		all = union(all, m.mentioned(v.Type()))
	}
	return all
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
