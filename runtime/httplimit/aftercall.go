package httplimit

import (
	"context"
	"net/http"
	"reflect"
)

// AfterCall is for generated decorators of handlers that hold slots, whose framework keeps the request where others find it. It
// returns the request that the handler has left there as one for those who come next: its context has all the values that the
// handler has added, but ends when that of the caller does, and not with the call. A nil request stays nil.
func AfterCall(r *http.Request, call, caller context.Context) *http.Request {
	if r == nil {
		return nil
	}
	ctx := r.Context()
	if reflect.TypeOf(ctx).Comparable() && ctx == call {
		return r.WithContext(caller)
	}
	return r.WithContext(outliving{caller, context.WithoutCancel(ctx)})
}

// outliving is a context that ends when another one does.
type outliving struct {
	context.Context // the other one

	values context.Context
}

// Value prefers the values of the context that has more of them. What package context itself asks for, to find out what ends
// a context, that one does not have.
func (o outliving) Value(key any) any {
	if value := o.values.Value(key); value != nil {
		return value
	}
	return o.Context.Value(key)
}
