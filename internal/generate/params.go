package generate

import (
	"go/types"
	"slices"

	"github.com/dave/jennifer/jen"
)

// paramList returns a parameter list under the given names, on one line.
func (p *printer) paramList(sig *types.Signature, names []string) *jen.Statement {
	return jen.Params(p.list(sig.Params(), names, sig.Variadic(), true)...)
}

// paramLines returns a parameter list under the given names, each parameter on a line of its own.
func (p *printer) paramLines(sig *types.Signature, names []string) *jen.Statement {
	return lines(p.list(sig.Params(), names, sig.Variadic(), false)...)
}

// lines returns a parameter list with each item on a line of its own.
func lines(items ...jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: "(", Close: ")", Separator: ",", Multi: true}, items...)
}

// names returns the names of parameters or results, "" for those that have none.
func names(vars *types.Tuple) []string {
	list := make([]string, vars.Len())
	for i := range list {
		list[i] = vars.At(i).Name()
	}
	return list
}

func variables(vars *types.Tuple) []*types.Var { return slices.Collect(vars.Variables()) }

// resultList returns a result list under the given names.
func (p *printer) resultList(results *types.Tuple, names []string) *jen.Statement {
	switch {
	case results.Len() == 0:
		return jen.Null()
	case results.Len() == 1 && names[0] == "":
		return p.typ(results.At(0).Type())
	}
	return jen.Params(p.list(results, names, false, true)...)
}

// list returns the items of a parameter list. Neighbours of one type can share it: a, b string.
func (p *printer) list(vars *types.Tuple, names []string, variadic, share bool) []jen.Code {
	last := vars.Len() - 1
	return mapEach(vars.Len(), func(i int) jen.Code {
		item := jen.Null()
		if names[i] != "" {
			item = jen.Id(names[i])
		}
		t := vars.At(i).Type()
		if s, ok := t.(*types.Slice); ok && variadic && i == last {
			return item.Op("...").Add(p.typ(s.Elem()))
		}
		if share && p.sharesType(vars, names, variadic, i) {
			return item
		}
		return item.Add(p.typ(t))
	})
}

// sharesType reports whether the variable can leave its type to the next one.
func (p *printer) sharesType(vars *types.Tuple, names []string, variadic bool, i int) bool {
	next, last := i+1, vars.Len()-1
	if names[i] == "" || next > last || variadic && next == last {
		return false
	}
	return p.sameSpelling(vars.At(i).Type(), vars.At(next).Type())
}

func (p *printer) sameSpelling(t, u types.Type) bool {
	if len(p.lengths.held[t]) > 0 || len(p.lengths.held[u]) > 0 {
		return t == u // equal lengths may have different spellings
	}
	return types.Identical(t, u) && types.TypeString(t, nil) == types.TypeString(u, nil)
}
