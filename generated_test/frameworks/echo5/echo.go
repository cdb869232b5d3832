// Package echo has a type of the structure of *echo.Context of version 5.
package echo

import "net/http"

type Context struct {
	request  *http.Request
	response http.ResponseWriter
}

func NewContext(r *http.Request, w http.ResponseWriter) *Context { return &Context{r, w} }

func (c *Context) Request() *http.Request        { return c.request }
func (c *Context) SetRequest(r *http.Request)    { c.request = r }
func (c *Context) Response() http.ResponseWriter { return c.response }
