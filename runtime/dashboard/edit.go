package dashboard

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"slices"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// maxOverride is how many bytes the text of an override may have. One for a thousand callers is shorter.
const maxOverride = 128 << 10

// EditWith has the page change overrides in store, for requests that authorize allows. It is asked about each request to
// see or change overrides, and returns who makes it, for the log, and whether that one may. It may be called by several
// goroutines at once. The default, and a nil store or authorize, is that nobody may see or change them here.
//
// The Limiter has to go by the same store, see [ratelimit.Limiter.Watch]. A request of another site's page is refused, see
// [http.CrossOriginProtection], before authorize is asked. Each change is a line in [slog.Default].
func EditWith(store ratelimit.OverrideStore, authorize func(*http.Request) (who string, ok bool)) Option {
	return func(d *Dashboard) {
		d.edit = nil
		if store != nil && authorize != nil {
			d.edit = &editor{store: store, authorize: authorize, limiter: d.shown.Load}
		}
	}
}

// editor changes overrides.
type editor struct {
	store     ratelimit.OverrideStore
	authorize func(*http.Request) (who string, ok bool)
	limiter   func() *ratelimit.Limiter
}

func (e *editor) routes(mux *http.ServeMux) {
	own := http.NewCrossOriginProtection()
	for pattern, serve := range map[string]func(w http.ResponseWriter, r *http.Request, who string){
		"GET /overrides":   e.list,
		"PUT /override":    e.setLimit,
		"DELETE /override": e.setLimit,
		"PUT /mode":        e.setMode,
		"DELETE /mode":     e.setMode,
	} {
		mux.Handle(pattern, own.Handler(e.authorized(serve)))
	}
}

// authorized lets only those through who may change limits.
func (e *editor) authorized(next func(w http.ResponseWriter, r *http.Request, who string)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		who, ok := e.authorize(r)
		if !ok {
			http.Error(w, "You may not change limits.", http.StatusForbidden)
			return
		}
		next(w, r, who)
	})
}

// list answers with all overrides of the store.
func (e *editor) list(w http.ResponseWriter, r *http.Request, _ string) {
	overrides, err := e.store.Load(r.Context())
	if err == nil && overrides == nil {
		overrides = new(ratelimit.Overrides)
	}
	var text []byte
	if err == nil {
		text, err = json.Marshal(overrides)
	}
	if err != nil {
		http.Error(w, "The overrides cannot be read: "+err.Error(), http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // the browser has gone if it fails
}

// setLimit has the body, an [ratelimit.Override] as JSON, hold for the limit that the query names, or with DELETE its directive.
func (e *editor) setLimit(w http.ResponseWriter, r *http.Request, who string) {
	id, limiter := r.URL.Query().Get("limit"), e.limiter()
	if !slices.ContainsFunc(limiter.Limits(), func(l ratelimit.LimitInfo) bool { return l.ID == id }) {
		http.Error(w, "There is no such limit.", http.StatusNotFound)
		return
	}
	var override *ratelimit.Override
	if r.Method == http.MethodPut && !read(w, r, &override) {
		return
	}
	// What one Limiter cannot have, it would refuse with all that the store says.
	err := limiter.CheckOverrides(&ratelimit.Overrides{Limits: map[string]*ratelimit.Override{id: override}})
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	answer(w, r, e.store.Set(r.Context(), id, override), id, who, override)
}

// setMode has the body, a [ratelimit.Mode] as JSON, hold for the whole Limiter, or with DELETE what the program says.
func (e *editor) setMode(w http.ResponseWriter, r *http.Request, who string) {
	var mode *ratelimit.Mode
	if r.Method == http.MethodPut && !read(w, r, &mode) {
		return
	}
	answer(w, r, e.store.SetMode(r.Context(), mode), "mode", who, mode)
}

// read reads the body of a request, and answers it unless that is JSON of such a value.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	// Forms of other sites cannot send this type, should a browser say nothing of where they come from.
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "Want Content-Type application/json.", http.StatusUnsupportedMediaType)
		return false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxOverride))
	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		http.Error(w, "The override is too long.", http.StatusRequestEntityTooLarge)
		return false
	} else if err != nil {
		http.Error(w, "The override did not arrive.", http.StatusBadRequest)
		return false
	}
	if err := json.Unmarshal(body, into); err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return false
	}
	return true
}

// answer tells what came of a change, and writes it down.
func answer(w http.ResponseWriter, r *http.Request, err error, what, who string, value any) {
	if err != nil {
		http.Error(w, "The change was not made: "+err.Error(), http.StatusBadGateway)
		return
	}
	text, _ := json.Marshal(value) // it was read from JSON
	slog.InfoContext(r.Context(), "ratelimit: an override was changed on the dashboard", "what", what, "by", who, "to", string(text))
	w.WriteHeader(http.StatusNoContent)
}
