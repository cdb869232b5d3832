// Package frameworks has handlers that take the context of a web framework, which are known by its structure: the decorator
// answers for them, and reads the context of the request.
package frameworks

import (
	"context"
	"net/http"

	"github.com/ratelimitgen/ratelimitgen/generated_test/frameworks/gin"
)

// Pages has the handlers of a framework whose handlers return nothing.
type Pages interface {
	//ratelimit:key=show:{c.Request.URL.Path} count=1 time=1h ip status=503
	Show(c *gin.Context)
	// Item is as handlers are that are made from a description of the API.
	//
	//ratelimit:key=item:{id} count=1 time=1h by=user
	Item(c *gin.Context, id int64)
	// Save is as handlers are that a function turns into the framework's.
	//
	//ratelimit:key=save count=1 time=1h
	Save(*gin.Context) error
	//ratelimit:key=upload count=1 algorithm=concurrency ip onempty=share
	Upload(r *gin.Context)
	// Login counts what fails.
	//
	//ratelimit:key=login count=1 time=1h refund={err == nil}
	Login(c *gin.Context) error
	// Visit counts what is not found.
	//
	//ratelimit:key=visit count=1 time=1h refund={c.Writer.Status() != 404}
	Visit(c *gin.Context)
	//ratelimit:key=slow count=1 time=1s wait=1s
	Slow(c *gin.Context)
	// Told has the context that it is given.
	//
	//ratelimit:key=told count=1 time=1h by=user
	Told(c *gin.Context, ctx context.Context)
	//ratelimit:key=held count=1 algorithm=concurrency
	Held(c *gin.Context, ctx context.Context)
	//ratelimit:key=busy count=1 time=1h fallback=busy fail=closed
	Busy(c *gin.Context)
	Health(c *gin.Context)
}

func busy(c *gin.Context) { c.Writer.WriteHeader(http.StatusServiceUnavailable) }

// Wrapped are handlers with a context that knows more.
//
//ratelimit:count=1 time=1h by=user
type Wrapped interface {
	Pointer(c *Session)
	Alias(c Ctx)
	Value(c Session)
	// Slot puts the request with the call's context into what the struct points to.
	//
	//ratelimit:key=slot count=1 algorithm=concurrency
	Slot(c Session)
}

type (
	Session struct {
		*gin.Context
		User string
	}
	Ctx = *gin.Context
)

// Service is no handler, though its methods take the context: whoever calls them answers.
//
//ratelimit:count=1 time=1h by=user onempty=share
type Service interface {
	Load(c *gin.Context, id string) (string, error)
	Delete(c *gin.Context, id string) error
	Late(r *http.Request, c *gin.Context) error
	//ratelimit:key=export count=1 algorithm=concurrency
	Export(c *gin.Context, id string) error
}
