package generate

import (
	"go/types"

	"github.com/dave/jennifer/jen"
)

// exchange is how a parameter has a request and the response to it, as the contexts of web frameworks do. They are known by
// their structure, so that no framework is imported for it.
type exchange int

const (
	// noExchange is any other parameter.
	noExchange exchange = iota
	// inFields is a pointer to a struct with the fields Request and Writer, and a method Abort that keeps the handlers that
	// come next from being called: *gin.Context. A struct that embeds such a pointer is another.
	inFields
	// byMethods has methods Request and Response: an echo.Context, or *echo.Context from version 5 on.
	byMethods
)

func exchangeOf(t types.Type) exchange {
	switch {
	case hasExchangeFields(t):
		return inFields
	case hasExchangeMethods(t):
		return byMethods
	}
	return noExchange
}

func hasExchangeFields(t types.Type) bool {
	_, _, shared := types.LookupFieldOrMethod(t, true, nil, "Request") // or the handler's request would be its own
	request, writer, abort := fieldOf(t, "Request"), fieldOf(t, "Writer"), methodOf(t, true, "Abort")
	return shared && request != nil && isRequest(request.Type()) &&
		writer != nil && implementsResponseWriter(writer.Type()) &&
		abort != nil && abort.Signature().Params().Len() == 0 && abort.Signature().Results().Len() == 0
}

func hasExchangeMethods(t types.Type) bool {
	request, response := resultOf(t, "Request"), resultOf(t, "Response")
	return request != nil && isRequest(request) && response != nil && implementsResponseWriter(response)
}

// resultOf returns the type of what a method of that name returns, or nil unless it has no parameters and one result.
func resultOf(t types.Type, name string) types.Type {
	method := methodOf(t, true, name)
	if method == nil || method.Signature().Params().Len() > 0 || method.Signature().Results().Len() != 1 {
		return nil
	}
	return method.Signature().Results().At(0).Type()
}

// fieldOf returns the field of that name, or nil.
func fieldOf(t types.Type, name string) *types.Var {
	obj, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
	field, _ := obj.(*types.Var)
	return field
}

// implementsResponseWriter reports whether a value of type t can be used as an http.ResponseWriter, which is made here of
// the http.Header that t has, like [locker].
func implementsResponseWriter(t types.Type) bool {
	header := resultOf(t, "Header")
	if header == nil || !isNamed(header, "net/http", "Header") {
		return false
	}
	integer, failure := param(types.Typ[types.Int]), param(types.Universe.Lookup("error").Type())
	return types.Implements(t, types.NewInterfaceType([]*types.Func{
		methodNamed("Header", nil, []*types.Var{param(header)}),
		methodNamed("Write", []*types.Var{param(types.NewSlice(types.Typ[types.Byte]))}, []*types.Var{integer, failure}),
		methodNamed("WriteHeader", []*types.Var{integer}, nil),
	}, nil).Complete())
}

// request is the code of the request that a parameter has.
func (x exchange) request(param string) *jen.Statement {
	if x == inFields {
		return jen.Id(param).Dot("Request")
	}
	return jen.Id(param).Dot("Request").Call()
}

// response is the code of the response.
func (x exchange) response(param string) *jen.Statement {
	if x == inFields {
		return jen.Id(param).Dot("Writer")
	}
	return jen.Id(param).Dot("Response").Call()
}

// takes reports whether a parameter of type t can be given another request.
func (x exchange) takes(t types.Type) bool {
	if x == inFields {
		return true
	}
	set := methodOf(t, true, "SetRequest")
	return set != nil && set.Signature().Results().Len() == 0 &&
		set.Signature().Params().Len() == 1 && isRequest(set.Signature().Params().At(0).Type())
}

// wantFirst returns the parameter that would make a handler of a method without results if it were the first one, with a
// comma behind it, or "".
func (m *method) wantFirst() string {
	if m.sig.Results().Len() > 0 {
		return ""
	}
	for v := range m.sig.Params().Variables() {
		if exchangeOf(v.Type()) != noExchange {
			return types.TypeString(v.Type(), (*types.Package).Name) + " as first parameter, "
		}
	}
	return ""
}

// answer returns the statements that answer a request whose call was refused.
func (m *method) answer() []jen.Code {
	write := func(w, r jen.Code) jen.Code { return jen.Qual(httplimitPath, "WriteError").Call(w, r, jen.Id(m.err)) }
	first := m.params[0]
	switch m.exchange {
	case noExchange:
		return []jen.Code{write(jen.Id(first), jen.Id(m.params[1]))}
	case inFields:
		return []jen.Code{write(m.exchange.response(first), m.exchange.request(first)), jen.Id(first).Dot("Abort").Call()}
	}
	return []jen.Code{write(m.exchange.response(first), m.exchange.request(first))}
}

// swapsRequest reports whether the request that a parameter has is another one, with the context of the call, while it
// runs. That of a method which is no handler stays: it may be in use elsewhere at the same time.
func (m *method) swapsRequest() bool {
	return m.leases() && m.context.exchange != noExchange && m.answers() && m.context.param == 0 &&
		m.context.exchange.takes(m.sig.Params().At(0).Type())
}

// swapRequest returns the statement for that. Those who see the parameter after the call find a request whose context has not
// ended, with what the handler has put into it.
func (m *method) swapRequest() []jen.Code {
	param, x := m.params[m.context.param], m.context.exchange
	r, call := jen.Id(m.request), jen.Id(m.call).Dot("Context").Call()
	swap := func(to jen.Code) jen.Code {
		if x == inFields {
			return x.request(param).Op("=").Add(to)
		}
		return jen.Id(param).Dot("SetRequest").Call(to)
	}
	after := jen.Qual(httplimitPath, "AfterCall").Call(x.request(param), call.Clone(), r.Clone().Dot("Context").Call())
	return []jen.Code{jen.If(r.Clone().Op(":=").Add(x.request(param)), r.Clone().Op("!=").Nil()).Block(
		jen.Defer().Func().Params().Block(swap(after)).Call(),
		swap(r.Clone().Dot("WithContext").Call(call)),
	)}
}
