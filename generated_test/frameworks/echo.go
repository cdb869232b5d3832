package frameworks

import (
	"net/http"

	"github.com/ratelimitgen/ratelimitgen/generated_test/frameworks/echo"
	echo5 "github.com/ratelimitgen/ratelimitgen/generated_test/frameworks/echo5"
)

// API has the handlers of a framework whose handlers return an error.
type API interface {
	//ratelimit:key=get count=1 time=1h ip
	Get(c echo.Context) error
	// Find is as handlers are that are made from a description of the API.
	//
	//ratelimit:key=find:{id} count=1 time=1h by=user
	Find(c echo.Context, id int64) error
	//ratelimit:key=notify count=1 time=1h
	Notify(c echo.Context)
	//ratelimit:key=import count=1 algorithm=concurrency by=user onempty=share
	Import(echo.Context) error
	//ratelimit:key=try count=1 time=1h refund={err == nil}
	Try(c echo.Context) error
	//ratelimit:key=queue count=1 time=1s wait=1s
	Queue(c echo.Context) error
	// Read has a value in front of the error, which a handler has not.
	//
	//ratelimit:key=read count=1 time=1h by=user
	Read(c echo.Context, id string) (string, error)
	//ratelimit:key=late count=1 time=1h by=user
	Late(id string, c echo.Context) error
	// Fixed keeps its request.
	//
	//ratelimit:key=fixed count=1 algorithm=concurrency
	Fixed(c Exchange) error
	Health(c echo.Context) error
}

// Exchange cannot be given another request.
type Exchange interface {
	Request() *http.Request
	Response() http.ResponseWriter
}

type API5 interface {
	//ratelimit:key=get5 count=1 time=1h ip
	Get(c *echo5.Context) error
	//ratelimit:key=import5 count=1 algorithm=concurrency
	Import(c *echo5.Context) error
}

// Custom are handlers with contexts of the user's own.
type Custom[C echo.Context] interface {
	//ratelimit:key=param count=1 time=1h by=user
	Param(c C) error
	//ratelimit:key=own count=1 time=1h by=user
	Own(c *AppContext) error
	//ratelimit:key=value count=1 time=1h by=user
	Value(c AppContext) error
}

type AppContext struct {
	echo.Context
	User string
}
