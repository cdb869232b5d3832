// Package contexts has contexts in all places, under all names, and behind methods.
package contexts

import (
	stdctx "context"
	"net/http"

	"github.com/ratelimitgen/ratelimitgen/generated_test/contexts/web"
)

type MyCtx = stdctx.Context

// Stream has a context as a gRPC stream does.
type Stream interface {
	Context() stdctx.Context
	Send(int) error
}

// Session has a context on its pointer only.
type Session struct{ Ctx stdctx.Context }

func (s *Session) Context() stdctx.Context { return s.Ctx }

type Router interface {
	//ratelimit:count=2 time=1h by=user
	Late(path string, c stdctx.Context) error
	//ratelimit:count=2 time=1h by=user
	Alias(c MyCtx) error
	//ratelimit:count=2 time=1h by=user
	Stream(path string, s Stream) error
	//ratelimit:count=2 time=1h by=user
	Value(s Session) error
	// Both takes the parameter that is a context before the one that has one.
	//
	//ratelimit:count=2 time=1h key=both:{@user}
	Both(r *http.Request, ctx stdctx.Context) error
	// Web has no context, and needs none as its limit does not tell callers apart.
	//
	//ratelimit:count=2 time=1h
	Web(c web.Context, path string) error
	None(path string)
}

// UserContext is a context that knows more.
type UserContext interface {
	stdctx.Context
	User() string
}

// Defined is a context by another name.
type Defined stdctx.Context

// Call is a context as that of gin is: a pointer.
type Call struct{ stdctx.Context }

// Envelope has a context two pointers away.
type Envelope struct{ *Session }

// Kinds has parameters that are contexts without being called so, and such as may be nil.
//
//ratelimit:count=2 time=1h by=user onempty=share
type Kinds interface {
	User(c UserContext) error
	Defined(d Defined) error
	// Call is a context, which goes before a parameter that has one.
	Call(r *http.Request, c *Call) error
	Held(e *Envelope) error
	Request(id string, r *http.Request) error
}

//ratelimit:count=2 time=1h by=user
type Generic[C stdctx.Context] interface {
	Do(c C) error
}
