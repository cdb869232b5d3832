package dashboard

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"time"
)

//go:embed page
var page embed.FS

// policy lets the page load what is its own, and nothing else: no script, style or image of another host, nor any that is
// written into the page, and no frame of another page may hold it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// routes returns the handler of the page and of what it asks for.
func (d *Dashboard) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", file("index.html"))
	for _, name := range pageFiles() {
		mux.Handle("GET /"+name, file(name))
	}
	mux.HandleFunc("GET /events", d.watch)
	if d.edit != nil {
		d.edit.routes(mux)
	}
	return mux
}

// ServeHTTP serves the page below "/", so that the path before that is to be stripped, see [http.StripPrefix].
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	d.servers.shutdown(r.Context())
	d.mux.ServeHTTP(w, r)
}

// pageFiles returns the names of the files of the page.
func pageFiles() (names []string) {
	files, err := page.ReadDir("page")
	if err != nil {
		panic("dashboard: " + err.Error()) // it is embedded
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

// file serves a file of the page. Browsers ask each time whether it has changed.
func file(name string) http.Handler {
	text, err := page.ReadFile(path.Join("page", name))
	if err != nil {
		panic("dashboard: " + err.Error()) // it is embedded
	}
	tag := tagOf(text)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("ETag", tag)
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(text))
	})
}

// tagOf returns an ETag of a text.
func tagOf(text []byte) string {
	sum := sha256.Sum256(text)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}
