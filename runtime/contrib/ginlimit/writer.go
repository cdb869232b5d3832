package ginlimit

import (
	"io"
	"net/http"

	"github.com/gin-gonic/gin"
)

// writer is a gin.ResponseWriter that begins the response by way of another one, which completes the header first. Gin
// keeps a status until the response begins: until then decisions may still change the header.
type writer struct {
	gin.ResponseWriter

	limited http.ResponseWriter // around that
}

// around returns gin's writer with limited around it, or as it is where there is nothing around it.
func around(w gin.ResponseWriter, limited http.ResponseWriter) gin.ResponseWriter {
	if own, ok := limited.(gin.ResponseWriter); ok { // there is a Middleware of httplimit's around gin
		return own
	}
	return &writer{w, limited}
}

// Unwrap serves http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeaderNow begins the response with the status that gin keeps.
func (w *writer) WriteHeaderNow() {
	if !w.Written() {
		w.limited.WriteHeader(w.Status())
	}
	w.ResponseWriter.WriteHeaderNow()
}

// Write begins the response if need be, as WriteString and Flush do.
func (w *writer) Write(p []byte) (int, error) { return w.limited.Write(p) }

// WriteString spares the original writer a copy.
func (w *writer) WriteString(s string) (int, error) { return io.WriteString(w.limited, s) }

// Flush does nothing where the server cannot, as gin's does.
func (w *writer) Flush() {
	if f, ok := w.limited.(http.Flusher); ok {
		f.Flush()
	}
}
