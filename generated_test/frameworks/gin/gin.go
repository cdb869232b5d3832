// Package gin has a type of the structure of *gin.Context.
package gin

import (
	"net/http"
	"time"
)

type ResponseWriter interface {
	http.ResponseWriter
	Status() int
}

// Context is a context.Context as well, but has no value of that of its request.
type Context struct {
	Request *http.Request
	Writer  ResponseWriter
	aborted bool
}

func (c *Context) Abort()          { c.aborted = true }
func (c *Context) IsAborted() bool { return c.aborted }

func (c *Context) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }
func (c *Context) Done() <-chan struct{}                   { return nil }
func (c *Context) Err() error                              { return nil }
func (c *Context) Value(any) any                           { return nil }
