package httplimit_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
)

// interfaces tells which optional interfaces a ResponseWriter has.
func interfaces(w http.ResponseWriter) string {
	_, flusher := w.(http.Flusher)
	_, hijacker := w.(http.Hijacker)
	_, readerFrom := w.(io.ReaderFrom)
	_, pusher := w.(http.Pusher)
	return fmt.Sprintf("Flusher %v, Hijacker %v, ReaderFrom %v, Pusher %v", flusher, hijacker, readerFrom, pusher)
}

// server starts a real server that speaks the given major version of HTTP. What the server logs is an error.
func server(t *testing.T, major int, h http.Handler) *httptest.Server {
	t.Helper()
	var logged syncBuffer
	srv := httptest.NewUnstartedServer(h)
	srv.Config.ErrorLog = log.New(&logged, "", 0)
	if major == 2 {
		srv.EnableHTTP2 = true
		srv.StartTLS()
	} else {
		srv.Start()
	}
	t.Cleanup(func() {
		srv.Close()
		if s := logged.String(); s != "" { // e.g. http: superfluous response.WriteHeader call
			t.Errorf("HTTP/%d: the server logged %q", major, s)
		}
	})
	return srv
}

func get(t *testing.T, srv *httptest.Server, path string) response {
	t.Helper()
	res, err := srv.Client().Get(srv.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response{res.ProtoMajor, res.StatusCode, res.Header, string(body)}
}

// H14
func TestStreamingAndUpgradeWorkAsWithoutMiddleware(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/interfaces", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, interfaces(w)) })
	mux.HandleFunc("/controller", func(w http.ResponseWriter, _ *http.Request) {
		c := http.NewResponseController(w)
		tell := make(map[string]string)
		tell["SetReadDeadline"] = fmt.Sprint(c.SetReadDeadline(time.Now().Add(time.Minute)))
		tell["SetWriteDeadline"] = fmt.Sprint(c.SetWriteDeadline(time.Now().Add(time.Minute)))
		tell["EnableFullDuplex"] = fmt.Sprint(c.EnableFullDuplex())
		tell["Flush"] = fmt.Sprint(c.Flush())
		_ = json.NewEncoder(w).Encode(tell)
	})
	mux.HandleFunc("/flush", func(w http.ResponseWriter, _ *http.Request) {
		f := w.(http.Flusher)
		f.Flush()
		_, _ = io.WriteString(w, "a")
		f.Flush()
		_, _ = io.WriteString(w, "b")
	})
	mux.HandleFunc("/copy", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.CopyN(w, strings.NewReader(strings.Repeat("c", 1<<20)), 1<<20)
	})
	mux.HandleFunc("/status", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte("short and stout"))
	})
	mux.HandleFunc("/nothing", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/closenotify", func(w http.ResponseWriter, _ *http.Request) {
		// As frameworks do that know no context.
		if ch := w.(interface{ CloseNotify() <-chan bool }).CloseNotify(); ch == nil {
			_, _ = io.WriteString(w, "never")
		}
	})
	mux.HandleFunc("/push", func(w http.ResponseWriter, _ *http.Request) {
		if p, ok := w.(http.Pusher); ok {
			_, _ = fmt.Fprint(w, p.Push("/nothing", nil)) // Go's client has push disabled
		}
	})
	mux.HandleFunc("/hijack", func(w http.ResponseWriter, _ *http.Request) {
		h, ok := w.(http.Hijacker)
		if !ok {
			return
		}
		conn, rw, err := h.Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = rw.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nmine")
		_ = rw.Flush()
		_ = conn.Close()
	})

	for _, major := range []int{1, 2} {
		guard := newGuard(t, &fakeStore{}, "", ratelimit.Rule{Key: "k", Limit: window60(100)})
		decided := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := guard.Allow(r.Context()); err != nil {
				t.Error(err)
			}
			mux.ServeHTTP(w, r)
		})
		plain := server(t, major, mux)
		wrapped := server(t, major, httplimit.Middleware()(decided))
		for _, path := range []string{"/interfaces", "/controller", "/flush", "/copy", "/status", "/nothing", "/closenotify", "/push", "/hijack"} {
			got, want := get(t, wrapped, path), get(t, plain, path)
			if got.major != major || got.status != want.status || got.body != want.body {
				t.Errorf("HTTP/%d %s: got HTTP/%d %d %.200q, want %d %.200q", major, path, got.major, got.status, got.body, want.status, want.body)
			}
			if fields := len(got.header.Values("RateLimit")); fields != 1 && got.body != "mine" {
				t.Errorf("HTTP/%d %s: %d RateLimit lines, want 1", major, path, fields)
			}
		}
	}
}

// Informational responses go out before the fields are known; the final one has them.
func TestInformationalResponsesPass(t *testing.T) {
	guard := newGuard(t, &fakeStore{}, "", perSecond)
	srv := server(t, 1, httplimit.Middleware()(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		limited(guard).ServeHTTP(w, r)
	})))
	hints := 0
	trace := &httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
		hints++
		if code != http.StatusEarlyHints || h.Get("Link") == "" || h.Get("RateLimit") != "" {
			t.Errorf("informational response: got %d %v", code, h)
		}
		return nil
	}}
	r, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), http.MethodGet, srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if hints != 1 {
		t.Errorf("got %d informational responses, want 1", hints)
	}
	expect(t, res.Header, "RateLimit", `"1s";r=4;t=1`)
}

func TestSwitchingProtocolsHasTheFields(t *testing.T) {
	guard := newGuard(t, &fakeStore{}, "", perSecond)
	srv := server(t, 1, httplimit.Middleware()(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := guard.Allow(r.Context()); err != nil {
			t.Error(err)
		}
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "echo")
		w.WriteHeader(http.StatusSwitchingProtocols)
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		line, _ := rw.ReadString('\n')
		_, _ = rw.WriteString(line)
		_ = rw.Flush()
		_ = conn.Close()
	})))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "echo")
	res, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("got status %d, want 101", res.StatusCode)
	}
	expect(t, res.Header, "RateLimit", `"1s";r=4;t=1`)
	conn := res.Body.(io.ReadWriter)
	_, _ = io.WriteString(conn, "hello\n")
	if line, err := bufio.NewReader(conn).ReadString('\n'); line != "hello\n" {
		t.Errorf("echo: got %q (%v)", line, err)
	}
}

// everything is a ResponseWriter with all optional interfaces, which notes what is called.
type everything struct {
	discard

	called bytes.Buffer
}

func (w *everything) Flush() { w.called.WriteString("Flush ") }

func (w *everything) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.called.WriteString("Hijack ")
	return nil, nil, nil
}

func (w *everything) ReadFrom(io.Reader) (int64, error) {
	w.called.WriteString("ReadFrom ")
	return 0, nil
}

func (w *everything) Push(string, *http.PushOptions) error {
	w.called.WriteString("Push ")
	return nil
}

// combinations returns a ResponseWriter for each set of optional interfaces.
func combinations(w *everything) []http.ResponseWriter {
	type (
		rw = http.ResponseWriter
		f  = http.Flusher
		h  = http.Hijacker
		r  = io.ReaderFrom
		p  = http.Pusher
	)
	return []http.ResponseWriter{
		struct{ rw }{w},
		struct {
			rw
			f
		}{w, w},
		struct {
			rw
			h
		}{w, w},
		struct {
			rw
			r
		}{w, w},
		struct {
			rw
			p
		}{w, w},
		struct {
			rw
			f
			h
		}{w, w, w},
		struct {
			rw
			f
			r
		}{w, w, w},
		struct {
			rw
			f
			p
		}{w, w, w},
		struct {
			rw
			h
			r
		}{w, w, w},
		struct {
			rw
			h
			p
		}{w, w, w},
		struct {
			rw
			r
			p
		}{w, w, w},
		struct {
			rw
			f
			h
			r
		}{w, w, w, w},
		struct {
			rw
			f
			h
			p
		}{w, w, w, w},
		struct {
			rw
			f
			r
			p
		}{w, w, w, w},
		struct {
			rw
			h
			r
			p
		}{w, w, w, w},
		w,
	}
}

func TestOptionalInterfacesAreThoseOfTheOriginal(t *testing.T) {
	// callAll calls what there is and returns what should have been called.
	callAll := func(w http.ResponseWriter) string {
		want := ""
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
			want += "Flush "
		}
		if h, ok := w.(http.Hijacker); ok {
			_, _, _ = h.Hijack()
			want += "Hijack "
		}
		if r, ok := w.(io.ReaderFrom); ok {
			_, _ = r.ReadFrom(nil)
			want += "ReadFrom "
		}
		if p, ok := w.(http.Pusher); ok {
			_ = p.Push("", nil)
			want += "Push "
		}
		return want
	}
	all := &everything{discard: discard{header: make(http.Header)}}
	seen := make(map[string]bool)
	for _, original := range combinations(all) {
		all.called.Reset()
		httplimit.Middleware()(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if got, want := interfaces(w), interfaces(original); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			seen[interfaces(w)] = true
			if want := callAll(w); all.called.String() != want {
				t.Errorf("called %q of the original, want %q", all.called.String(), want)
			}
		})).ServeHTTP(original, request(peer, nil))
	}
	if len(seen) != 16 {
		t.Errorf("%d combinations were tried, want 16", len(seen))
	}
}

// Each way to begin a response completes its header first.
func TestEveryWayToBeginCompletesTheHeader(t *testing.T) {
	for name, begin := range map[string]func(http.ResponseWriter){
		"WriteHeader": func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK) },
		"Write":       func(w http.ResponseWriter) { _, _ = w.Write(nil) },
		"WriteString": func(w http.ResponseWriter) { _, _ = io.WriteString(w, "") },
		"Flush":       func(w http.ResponseWriter) { w.(http.Flusher).Flush() },
		"controller":  func(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() },
		"ReadFrom":    func(w http.ResponseWriter) { _, _ = io.Copy(w, io.LimitReader(nil, 0)) },
	} {
		w := &everything{discard: discard{header: make(http.Header)}}
		guard := newGuard(t, &fakeStore{}, "", perSecond)
		httplimit.Middleware()(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if err := guard.Allow(r.Context()); err != nil {
				t.Error(err)
			}
			begin(rw)
			if w.header.Get("RateLimit") == "" {
				t.Errorf("%s: the header is not complete", name)
			}
		})).ServeHTTP(w, request(peer, nil))
		expect(t, w.header, "RateLimit", `"1s";r=4;t=1`)
	}
}
