package httplimit

import (
	"io"
	"net/http"
)

// response is a ResponseWriter that adds the record to the header at the last moment. It has the methods whose presence
// tells a handler nothing; see like for those that do.
//
// One thing no ResponseWriter around net/http's can keep: http.MaxBytesReader asks for the connection to be closed by an
// unexported method. The server then closes it only if much of the body is left unread.
type response struct {
	http.ResponseWriter
	record record
	begun  bool // whether the header has been written, or is as good as written; used by the handler's goroutine only
}

// Unwrap serves http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// begin completes the header, once.
func (w *response) begin() {
	if !w.begun {
		w.begun = true
		w.record.addTo(w.Header())
	}
}

// WriteHeader sends the header if status is final.
func (w *response) WriteHeader(status int) {
	// After any other 1xx comes another response, with a header of its own.
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		w.begin()
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write begins the response if need be, as ReadFrom, WriteString and Flush do.
func (w *response) Write(p []byte) (int, error) {
	w.begin()
	return w.ResponseWriter.Write(p)
}

// WriteString spares the original writer a copy if it has the method, too.
func (w *response) WriteString(s string) (int, error) {
	w.begin()
	return io.WriteString(w.ResponseWriter, s)
}

// FlushError is what http.ResponseController calls. Without it, Unwrap would lead past begin.
func (w *response) FlushError() error {
	w.begin()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// CloseNotify serves the frameworks that assert the deprecated http.CloseNotifier without a check. The nil channel never
// notifies.
func (w *response) CloseNotify() <-chan bool {
	if n, ok := w.ResponseWriter.(interface{ CloseNotify() <-chan bool }); ok {
		return n.CloseNotify()
	}
	return nil
}
