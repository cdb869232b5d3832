package generate

import (
	"go/types"
	"slices"

	"github.com/dave/jennifer/jen"
)

// contextSource is where a method's decorator finds the context of a call.
type contextSource struct {
	param  int     // index of the parameter, -1 if there is none
	call   bool    // whether the context is what the parameter's Context method returns
	given  bool    // whether the parameter takes any context, so that it can be given another one
	routes []route // to the methods and fields that are used; nil if what has them is never nil

	// exchange is how the parameter has a request, whose context it is; noExchange if it is not. What the parameter does
	// as a context does not count: a *gin.Context has the values of its request's context on demand only.
	exchange exchange
}

// contextOf returns the first parameter that is a context.Context, or else implements it or has a request, or else has a
// context. What a handler is called with is never nil, as a context is not by Go's rules; but the request that it has may
// be, in tests of handlers.
func contextOf(sig *types.Signature, s shape) contextSource {
	find := func(is func(types.Type) bool) int {
		return slices.IndexFunc(variables(sig.Params()), func(v *types.Var) bool { return is(v.Type()) })
	}
	typ := func(i int) types.Type { return sig.Params().At(i).Type() }
	if i := find(isContext); i >= 0 {
		return contextSource{param: i, given: true}
	}
	isOrHolds := func(t types.Type) bool { return implementsContext(t) || exchangeOf(t) != noExchange }
	if i := find(isOrHolds); i >= 0 {
		switch x := exchangeOf(typ(i)); {
		case x != noExchange && i == 0 && (s == answers || s == answersAndReturns):
			return contextSource{param: i, exchange: x}
		case x != noExchange:
			return contextSource{param: i, exchange: x, routes: routesTo(typ(i), "Request")}
		}
		if isInterface(typ(i)) {
			return contextSource{param: i, given: typ(i).Underlying().(*types.Interface).NumMethods() == len(contextMethods)}
		}
		return contextSource{param: i, routes: routesTo(typ(i), contextMethods...)}
	}
	i := find(hasContext)
	if i < 0 || s == answers || s == answersAndReturns {
		return contextSource{param: i, call: i >= 0}
	}
	return contextSource{param: i, call: true, routes: routesTo(typ(i), "Context")}
}

// contextMethods are the methods of context.Context.
var contextMethods = []string{"Deadline", "Done", "Err", "Value"}

// implementsContext reports whether a value of type t can be used as a context.Context, which is made here of the time.Time
// that t has, like [locker].
func implementsContext(t types.Type) bool {
	deadline := methodOf(t, false, "Deadline")
	if deadline == nil || deadline.Signature().Results().Len() != 2 {
		return false
	}
	moment := deadline.Signature().Results().At(0).Type()
	if !isNamed(moment, "time", "Time") {
		return false
	}
	value := param(types.NewInterfaceType(nil, nil))
	done := types.NewChan(types.RecvOnly, types.NewStruct(nil, nil))
	return types.Implements(t, types.NewInterfaceType([]*types.Func{
		methodNamed("Deadline", nil, []*types.Var{param(moment), param(types.Typ[types.Bool])}),
		methodNamed("Done", nil, []*types.Var{param(done)}),
		methodNamed("Err", nil, []*types.Var{param(types.Universe.Lookup("error").Type())}),
		methodNamed("Value", []*types.Var{value}, []*types.Var{value}),
	}, nil).Complete())
}

func param(t types.Type) *types.Var { return types.NewParam(0, nil, "", t) }

func methodNamed(name string, params, results []*types.Var) *types.Func {
	return types.NewFunc(0, nil, name, types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), types.NewTuple(results...), false))
}

// hasContext reports whether a parameter of type t has a method Context that returns a context.
func hasContext(t types.Type) bool {
	result := resultOf(t, "Context")
	return result != nil && (isContext(result) || isInterface(result) && implementsContext(result))
}

// methodOf returns the method of that name, or nil.
func methodOf(t types.Type, addressable bool, name string) *types.Func {
	obj, _, _ := types.LookupFieldOrMethod(t, addressable, nil, name)
	method, _ := obj.(*types.Func)
	return method
}

// routesTo returns the routes to methods or fields of a type.
func routesTo(t types.Type, names ...string) []route {
	return mapEach(len(names), func(i int) route {
		_, index, _ := types.LookupFieldOrMethod(t, true, nil, names[i])
		return route{t, index}
	})
}

// isInterface reports whether t is an interface, and no type parameter.
func isInterface(t types.Type) bool {
	_, isParam := types.Unalias(t).(*types.TypeParam)
	return !isParam && types.IsInterface(t)
}

// mayLackContext reports whether the code must ask before it reads the context.
func (m *method) mayLackContext() bool { return len(m.contextConditions("")) > 0 }

// contextConditions returns the conditions under which the parameter, by that name, has a context. An embedded field that
// cannot be named is not asked about.
func (m *method) contextConditions(param string) []jen.Code {
	p := m.decorator.newPrinter(nil)
	known := newFacts()
	var conditions []jen.Code
	for _, r := range m.context.routes {
		pl, nameable := place{code: jen.Id(param)}, true
		r.walk(func(t types.Type, field *types.Var) {
			if field != nil {
				pl = pl.dot(field.Name())
				nameable = nameable && (field.Exported() || p.isLocal(field.Pkg()))
			}
			if nameable && isNilable(t) && known.add(fact{text: pl.text}) {
				conditions = append(conditions, jen.Add(pl.code).Op("!=").Nil())
			}
		})
	}
	if x := m.context.exchange; x != noExchange {
		conditions = append(conditions, x.request(param).Op("!=").Nil())
	}
	return conditions
}

// ifContext returns an if statement for a call that has a context.
func (m *method) ifContext(then jen.Code) jen.Code {
	conditions := m.contextConditions(m.params[m.context.param])
	all := jen.Add(conditions[0])
	for _, condition := range conditions[1:] {
		all.Op("&&").Add(condition)
	}
	return jen.If(all).Block(then)
}

// readContext returns the statements that must come before the context is used: the declaration of a variable for it if it
// may be missing.
func (m *method) readContext() []jen.Code {
	if !m.mayLackContext() {
		return nil
	}
	return []jen.Code{
		jen.Id(m.ctx).Op(":=").Qual("context", "Background").Call(),
		m.ifContext(jen.Id(m.ctx).Op("=").Add(m.contextValue())),
	}
}

// contextArg is the context for the guard.
func (m *method) contextArg() *jen.Statement {
	switch {
	case m.context.param < 0:
		return jen.Qual("context", "Background").Call()
	case m.mayLackContext():
		return jen.Id(m.ctx)
	}
	return m.contextValue()
}

// contextValue is the context that the parameter is or has.
func (m *method) contextValue() *jen.Statement {
	param := m.params[m.context.param]
	switch {
	case m.context.exchange != noExchange:
		return m.context.exchange.request(param).Dot("Context").Call()
	case m.context.call:
		return jen.Id(param).Dot("Context").Call()
	}
	return jen.Id(param)
}

// heldContext returns what a parameter becomes in a call that holds slots, whose context ends when it loses them, or nil if
// it stays: nothing can put another context into a stream. One that has a request keeps it or not, see [method.swapsRequest].
func (m *method) heldContext(param int) *jen.Statement {
	if param != m.context.param || !m.leases() {
		return nil
	}
	held := jen.Id(m.call).Dot("Context").Call()
	switch {
	case m.context.given:
		return held
	case isRequest(m.sig.Params().At(param).Type()):
		return jen.Id(m.params[param]).Dot("WithContext").Call(held)
	}
	return nil
}

// holdContext returns the statement that puts the context of a call into a request that may be nil.
func (m *method) holdContext() []jen.Code {
	i := m.context.param
	if i < 0 || !m.mayLackContext() {
		return nil
	}
	if m.swapsRequest() {
		return m.swapRequest()
	}
	held := m.heldContext(i)
	if held == nil {
		return nil
	}
	return []jen.Code{m.ifContext(jen.Id(m.params[i]).Op("=").Add(held))}
}
