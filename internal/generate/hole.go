package generate

import (
	"go/constant"
	"go/token"
	"go/types"
	"slices"
)

// hole is how a value becomes a part of a key.
type hole struct {
	constructor string // of the runtime
	param       string // the type that it takes, "" if the value is passed as it is
	method      string // of the value that it calls
}

// holeOf returns how a value of type t becomes a part of a key, and whether it does. A string, bool or integer goes by its
// value: a String method may hide that, and two identities would meet in one bucket. Bytes do if they have no text.
func holeOf(t types.Type) (hole, bool) {
	switch info := basicInfo(t); {
	case info&types.IsString != 0:
		return hole{constructor: "String", param: "string"}, true
	case info&types.IsBoolean != 0:
		return hole{constructor: "Bool", param: "bool"}, true
	case info&types.IsUnsigned != 0:
		return hole{constructor: "Uint", param: "uint64"}, true
	case info&types.IsInteger != 0:
		return hole{constructor: "Int", param: "int64"}, true
	}
	switch {
	case types.Implements(t, textMarshaler):
		return hole{constructor: "Text", method: "MarshalText"}, true
	case types.Implements(t, stringer):
		return hole{constructor: "Stringer", method: "String"}, true
	}
	for _, term := range termsOf(t) {
		if slice, ok := term.(*types.Slice); !ok || !types.Identical(slice.Elem(), types.Typ[types.Byte]) {
			return hole{}, false
		}
	}
	if len(termsOf(t)) == 0 {
		return hole{}, false
	}
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return hole{constructor: "Bytes", param: "[]byte"}, true
	}
	return hole{constructor: "Bytes"}, true
}

// stringer and textMarshaler are [fmt.Stringer] and [encoding.TextMarshaler], made here like [locker].
var (
	stringer      = oneMethod("String", types.Typ[types.String])
	textMarshaler = oneMethod("MarshalText", types.NewSlice(types.Typ[types.Byte]), types.Universe.Lookup("error").Type())
)

func oneMethod(name string, results ...types.Type) *types.Interface {
	vars := make([]*types.Var, len(results))
	for i, t := range results {
		vars[i] = types.NewVar(token.NoPos, nil, "", t)
	}
	sig := types.NewSignatureType(nil, nil, nil, nil, types.NewTuple(vars...), false)
	return types.NewInterfaceType([]*types.Func{types.NewFunc(token.NoPos, nil, name, sig)}, nil).Complete()
}

// basicInfo returns what all types that a value of type t may have have in common: more than one are those of a type
// parameter. An unsigned integer and a signed one have nothing in common, as nothing can hold both.
func basicInfo(t types.Type) types.BasicInfo {
	terms := termsOf(t)
	var common types.BasicInfo
	for i, term := range terms {
		basic, ok := term.(*types.Basic)
		switch {
		case !ok:
			return 0
		case i == 0:
			common = basic.Info()
		case common&types.IsUnsigned != basic.Info()&types.IsUnsigned:
			return 0
		default:
			common &= basic.Info()
		}
	}
	return common
}

// isInteger reports whether all values of type t are integers, signed or not.
func isInteger(t types.Type) bool {
	terms := termsOf(t)
	return len(terms) > 0 && !slices.ContainsFunc(terms, func(term types.Type) bool { return !mayBeInteger(term) })
}

// mayBeInteger reports whether some values of type t are integers.
func mayBeInteger(t types.Type) bool {
	return slices.ContainsFunc(termsOf(t), func(term types.Type) bool {
		basic, ok := term.(*types.Basic)
		return ok && basic.Info()&types.IsInteger != 0
	})
}

// mayOverflow reports whether values of type t are unsigned, and some of them too large for an int64.
func mayOverflow(t types.Type) bool {
	return basicInfo(t)&types.IsUnsigned != 0 && slices.ContainsFunc(termsOf(t), func(term types.Type) bool {
		basic, ok := term.(*types.Basic)
		return ok && slices.Contains([]types.BasicKind{types.Uint, types.Uint64, types.Uintptr}, basic.Kind())
	})
}

// termsOf returns the underlying types that a value of type t may have.
func termsOf(t types.Type) []types.Type {
	switch t := types.Unalias(t).(type) {
	case *types.TypeParam:
		return constraintTerms(t.Constraint().Underlying().(*types.Interface))
	case *types.Union:
		var terms []types.Type
		for term := range t.Terms() {
			terms = append(terms, termsOf(term.Type())...)
		}
		return terms
	}
	if constraint, ok := t.Underlying().(*types.Interface); ok && !constraint.IsMethodSet() {
		return constraintTerms(constraint)
	}
	return []types.Type{t.Underlying()}
}

// constraintTerms returns the terms of one of the elements of a constraint: what holds for them holds for those that are in
// all elements.
func constraintTerms(constraint *types.Interface) []types.Type {
	for embedded := range constraint.EmbeddedTypes() {
		if inner, ok := embedded.Underlying().(*types.Interface); ok && inner.IsMethodSet() {
			continue
		}
		if terms := termsOf(embedded); len(terms) > 0 {
			return terms
		}
	}
	return nil
}

// coreOf returns the underlying type of t, or what those that a type parameter stands for have in common, or nil.
func coreOf(t types.Type) types.Type {
	terms := termsOf(t)
	if len(terms) == 0 {
		return nil
	}
	for _, term := range terms[1:] {
		if !types.Identical(term, terms[0]) {
			return nil
		}
	}
	return terms[0]
}

// representable reports whether a constant fits into what the runtime takes.
func representable(tv types.TypeAndValue) bool {
	if tv.Value == nil || basicInfo(tv.Type)&types.IsInteger == 0 {
		return true
	}
	if basicInfo(tv.Type)&types.IsUnsigned != 0 {
		_, exact := constant.Uint64Val(constant.ToInt(tv.Value))
		return exact
	}
	_, exact := constant.Int64Val(constant.ToInt(tv.Value))
	return exact
}
