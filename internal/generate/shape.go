package generate

import (
	"go/types"
)

// shape is what a method's signature lets its decorator do with a call that is over the limit.
type shape int

const (
	// cannotRefuse is a method whose caller would not learn of a refusal.
	cannotRefuse shape = iota
	// returnsError is a method whose last result is an error: zero values and the refusal.
	returnsError
	// answers is (http.ResponseWriter, *http.Request), or an [exchange] and perhaps more: the decorator answers the request.
	answers
	// answersAndReturns is the same with an error result: the decorator answers the request and returns the refusal.
	answersAndReturns
)

// shapeOf returns the shape of a method. With an error result, a *gin.Context beside other parameters makes no handler: no
// handler of gin has a result, and whoever calls such a method answers what it returns.
func shapeOf(sig *types.Signature) shape {
	params, results := sig.Params(), sig.Results()
	last := results.Len() - 1
	fails := last >= 0 && isError(results.At(last).Type())
	x := firstExchange(sig)
	handles := x != noExchange ||
		params.Len() == 2 && isResponseWriter(params.At(0).Type()) && isRequest(params.At(1).Type())
	switch {
	case handles && last == 0 && fails && (x != inFields || params.Len() == 1):
		return answersAndReturns
	case handles && last < 0:
		return answers
	case fails:
		return returnsError
	}
	return cannotRefuse
}

// firstExchange returns what the first parameter is.
func firstExchange(sig *types.Signature) exchange {
	if sig.Params().Len() == 0 {
		return noExchange
	}
	return exchangeOf(sig.Params().At(0).Type())
}

// answers reports whether the decorator answers requests that are over the limit.
func (m *method) answers() bool { return m.shape == answers || m.shape == answersAndReturns }

func isContext(t types.Type) bool { return isNamed(t, "context", "Context") }

func isResponseWriter(t types.Type) bool { return isNamed(t, "net/http", "ResponseWriter") }

func isRequest(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && isNamed(p.Elem(), "net/http", "Request")
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// isNamed reports whether t is the type of that name, under whatever alias. The package is compared by its path, as
// packages that were loaded apart each have their own.
func isNamed(t types.Type, path, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == name && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == path
}
