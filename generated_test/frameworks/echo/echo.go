// Package echo has a type of the structure of an echo.Context of version 4.
package echo

import "net/http"

type Context interface {
	Request() *http.Request
	SetRequest(r *http.Request)
	Response() *Response
}

// Response is an http.ResponseWriter by its pointer.
type Response struct {
	Writer    http.ResponseWriter
	Committed bool
}

func (r *Response) Header() http.Header         { return r.Writer.Header() }
func (r *Response) Write(p []byte) (int, error) { r.Committed = true; return r.Writer.Write(p) }
func (r *Response) WriteHeader(status int)      { r.Committed = true; r.Writer.WriteHeader(status) }
