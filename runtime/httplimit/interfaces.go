//nolint:revive // the methods are those of net/http's and io's interfaces, which document them
package httplimit

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

// The optional interfaces whose presence tells a handler what it can do.
const (
	flushes = 1 << iota
	hijacks
	readsFrom
	pushes
)

// like returns w as a ResponseWriter that implements each of http.Flusher, http.Hijacker, io.ReaderFrom and http.Pusher
// exactly if the original does.
func (w *response) like(original http.ResponseWriter) http.ResponseWriter {
	can := 0
	if _, ok := original.(http.Flusher); ok {
		can |= flushes
	}
	if _, ok := original.(http.Hijacker); ok {
		can |= hijacks
	}
	if _, ok := original.(io.ReaderFrom); ok {
		can |= readsFrom
	}
	if _, ok := original.(http.Pusher); ok {
		can |= pushes
	}
	switch can {
	case flushes:
		return wF{w}
	case hijacks:
		return wH{w}
	case readsFrom:
		return wR{w}
	case pushes:
		return wP{w}
	case flushes | hijacks:
		return wFH{wF{w}}
	case flushes | readsFrom:
		return wFR{wF{w}}
	case flushes | pushes: // HTTP/2
		return wFP{wF{w}}
	case hijacks | readsFrom:
		return wHR{wH{w}}
	case hijacks | pushes:
		return wHP{wH{w}}
	case readsFrom | pushes:
		return wRP{wR{w}}
	case flushes | hijacks | readsFrom: // HTTP/1
		return wFHR{wFH{wF{w}}}
	case flushes | hijacks | pushes:
		return wFHP{wFH{wF{w}}}
	case flushes | readsFrom | pushes:
		return wFRP{wFR{wF{w}}}
	case hijacks | readsFrom | pushes:
		return wHRP{wHR{wH{w}}}
	case flushes | hijacks | readsFrom | pushes:
		return wFHRP{wFHR{wFH{wF{w}}}}
	}
	return w
}

// Each type is a response with the interfaces that its letters stand for. It has all but the last of them from the type
// it embeds.
type (
	wF    struct{ *response }
	wH    struct{ *response }
	wR    struct{ *response }
	wP    struct{ *response }
	wFH   struct{ wF }
	wFR   struct{ wF }
	wFP   struct{ wF }
	wHR   struct{ wH }
	wHP   struct{ wH }
	wRP   struct{ wR }
	wFHR  struct{ wFH }
	wFHP  struct{ wFH }
	wFRP  struct{ wFR }
	wHRP  struct{ wHR }
	wFHRP struct{ wFHR }
)

func (w wF) Flush() { _ = w.FlushError() }

func (w wH) Hijack() (net.Conn, *bufio.ReadWriter, error)  { return w.hijack() }
func (w wFH) Hijack() (net.Conn, *bufio.ReadWriter, error) { return w.hijack() }

func (w wR) ReadFrom(src io.Reader) (int64, error)   { return w.readFrom(src) }
func (w wFR) ReadFrom(src io.Reader) (int64, error)  { return w.readFrom(src) }
func (w wHR) ReadFrom(src io.Reader) (int64, error)  { return w.readFrom(src) }
func (w wFHR) ReadFrom(src io.Reader) (int64, error) { return w.readFrom(src) }

func (w wP) Push(target string, opts *http.PushOptions) error    { return w.push(target, opts) }
func (w wFP) Push(target string, opts *http.PushOptions) error   { return w.push(target, opts) }
func (w wHP) Push(target string, opts *http.PushOptions) error   { return w.push(target, opts) }
func (w wRP) Push(target string, opts *http.PushOptions) error   { return w.push(target, opts) }
func (w wFHP) Push(target string, opts *http.PushOptions) error  { return w.push(target, opts) }
func (w wFRP) Push(target string, opts *http.PushOptions) error  { return w.push(target, opts) }
func (w wHRP) Push(target string, opts *http.PushOptions) error  { return w.push(target, opts) }
func (w wFHRP) Push(target string, opts *http.PushOptions) error { return w.push(target, opts) }

// hijack gives up the connection. What the handler then writes to it is its own affair.
func (w *response) hijack() (net.Conn, *bufio.ReadWriter, error) {
	if original, ok := w.ResponseWriter.(http.Hijacker); ok {
		return original.Hijack()
	}
	return nil, nil, http.ErrNotSupported
}

func (w *response) readFrom(src io.Reader) (int64, error) {
	w.begin()
	if original, ok := w.ResponseWriter.(io.ReaderFrom); ok {
		return original.ReadFrom(src)
	}
	return 0, http.ErrNotSupported
}

func (w *response) push(target string, opts *http.PushOptions) error {
	if original, ok := w.ResponseWriter.(http.Pusher); ok {
		return original.Push(target, opts)
	}
	return http.ErrNotSupported
}
