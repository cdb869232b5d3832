package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"sync"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// maxOverride is how many bytes the text of an override may have. One for a thousand callers is shorter.
const maxOverride = 128 << 10

// EditWith has the page change overrides in store, for requests that authorize allows. It is asked about each request to
// see or change overrides, and returns who makes it, for the log, and whether that one may. It may be called by several
// goroutines at once. The default, and a nil store or authorize, is that nobody may see or change them here.
//
// The Limiter has to go by the same store, see [ratelimit.Limiter.Watch]: after a change the page waits until it does, and says so
// if something else holds. A request of another site's page is refused, see [http.CrossOriginProtection], before authorize
// is asked; where authorize lets in whoever reaches the program, it has to look at the Host too. Each change, and each that was
// refused, is a line in [slog.Default]. Of two who change the same override at once, the later is told of the earlier, unless
// they do so within the time that one access to the store takes and in different processes.
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

	changing sync.Mutex // held from a look at what is stored until that is changed
}

func (e *editor) routes(mux *http.ServeMux) {
	for pattern, serve := range map[string]func(w http.ResponseWriter, r *http.Request, who string){
		"GET /overrides":   e.list,
		"GET /override":    e.one,
		"PUT /override":    e.setLimit,
		"DELETE /override": e.setLimit,
		"PUT /mode":        e.setMode,
		"DELETE /mode":     e.setMode,
	} {
		mux.Handle(pattern, ownSite(e.authorized(serve)))
	}
}

// ownSite lets only those through that no page of another site has made, to see overrides as well as to change them.
func ownSite(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := r.WithContext(r.Context())
		asked.Method = http.MethodPost // of those that only look, it lets all through
		if err := protection.Check(asked); err != nil {
			logRefused(r, "", err.Error())
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// logRefused writes down that somebody may not make a change. That somebody may not see overrides happens at each look.
func logRefused(r *http.Request, who, why string) {
	if r.Method == http.MethodPut || r.Method == http.MethodDelete {
		slog.WarnContext(r.Context(), "ratelimit: a change of overrides on the dashboard was refused",
			"what", subject(r), "by", who, "from", r.RemoteAddr, "why", why)
	}
}

// subject is what a request is about: the id of a limit, or the mode.
func subject(r *http.Request) string {
	if id := r.URL.Query().Get("limit"); id != "" {
		return id
	}
	return "mode"
}

// authorized lets only those through who may change limits.
func (e *editor) authorized(next func(w http.ResponseWriter, r *http.Request, who string)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		who, ok := e.authorize(r)
		if !ok {
			logRefused(r, who, "not authorized")
			http.Error(w, "You may not change limits.", http.StatusForbidden)
			return
		}
		next(w, r, who)
	})
}

// list answers with all overrides of the store.
func (e *editor) list(w http.ResponseWriter, r *http.Request, _ string) {
	overrides, err := e.load(r.Context())
	var text []byte
	if err == nil {
		text, err = json.Marshal(overrides)
	}
	if err != nil {
		cannotRead(w, err)
		return
	}
	writeJSON(w, text)
}

// one answers with the override of the limit that the query names, or null, and tags it for If-Match.
func (e *editor) one(w http.ResponseWriter, r *http.Request, _ string) {
	text, tag, err := e.stored(r.Context(), r.URL.Query().Get("limit"))
	if err != nil {
		cannotRead(w, err)
		return
	}
	w.Header().Set("ETag", tag)
	writeJSON(w, text)
}

func (e *editor) load(ctx context.Context) (*ratelimit.Overrides, error) {
	overrides, err := e.store.Load(ctx)
	if err == nil && overrides == nil {
		overrides = new(ratelimit.Overrides)
	}
	return overrides, err
}

// stored returns the override that the store has for a limit, null if none, and its tag.
func (e *editor) stored(ctx context.Context, id string) (text []byte, tag string, err error) {
	overrides, err := e.load(ctx)
	if err != nil {
		return nil, "", err
	}
	if text, err = json.Marshal(overrides.Limits[id]); err != nil {
		return nil, "", err
	}
	return text, tagOf(text), nil
}

func cannotRead(w http.ResponseWriter, err error) {
	http.Error(w, "The overrides cannot be read: "+err.Error(), http.StatusBadGateway)
}

func writeJSON(w http.ResponseWriter, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // the browser has gone if it fails
}

// setLimit has the body, an [ratelimit.Override] as JSON, hold for the limit that the query names, or with DELETE its directive.
// What is deleted need not be readable, nor of a limit that there is.
func (e *editor) setLimit(w http.ResponseWriter, r *http.Request, who string) {
	id, limiter := r.URL.Query().Get("limit"), e.limiter()
	_, known := limitOf(limiter, id)
	if id == "" || !known && r.Method == http.MethodPut {
		http.Error(w, "There is no such limit.", http.StatusNotFound)
		return
	}
	var override *ratelimit.Override
	if r.Method == http.MethodPut {
		if !read(w, r, &override) {
			return
		}
		// What one Limiter cannot have, it would refuse with all that the store says.
		err := limiter.CheckOverrides(&ratelimit.Overrides{Limits: map[string]*ratelimit.Override{id: override}})
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
	}
	if !e.replace(w, r, id, override) {
		return
	}
	logChanged(r, who, override)
	answer(w, await(r.Context(), func() string { return otherRule(limiter, id, override) }))
}

// replace has the store have an override in place of what the If-Match of the request says, if it has one. It answers the
// request if that is no longer so, or if the store fails.
func (e *editor) replace(w http.ResponseWriter, r *http.Request, id string, override *ratelimit.Override) (ok bool) {
	e.changing.Lock()
	defer e.changing.Unlock()
	if seen := r.Header.Get("If-Match"); seen != "" {
		text, tag, err := e.stored(r.Context(), id)
		if err != nil {
			cannotRead(w, err)
			return false
		}
		if tag != seen {
			http.Error(w, "The change was not made: somebody else has changed the override meanwhile, to "+string(text)+
				". Open the limit again to go on from there.", http.StatusPreconditionFailed)
			return false
		}
	}
	if err := e.store.Set(r.Context(), id, override); err != nil {
		notMade(w, err)
		return false
	}
	return true
}

// setMode has the body, a [ratelimit.Mode] as JSON, hold for the whole Limiter, or with DELETE what the program says.
func (e *editor) setMode(w http.ResponseWriter, r *http.Request, who string) {
	var mode *ratelimit.Mode
	if r.Method == http.MethodPut && !read(w, r, &mode) {
		return
	}
	if err := e.store.SetMode(r.Context(), mode); err != nil {
		notMade(w, err)
		return
	}
	logChanged(r, who, mode)
	answer(w, await(r.Context(), func() string { return otherMode(e.limiter(), mode) }))
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

func notMade(w http.ResponseWriter, err error) {
	http.Error(w, "The change was not made: "+err.Error(), http.StatusBadGateway)
}

func logChanged(r *http.Request, who string, value any) {
	text, _ := json.Marshal(value) // it was read from JSON
	slog.InfoContext(r.Context(), "ratelimit: an override was changed on the dashboard", "what", subject(r), "by", who, "to", string(text))
}

// answer tells what came of a change that was stored: that it holds, or what holds in its place.
func answer(w http.ResponseWriter, other string) {
	if other == "" {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusAccepted)
	_, _ = fmt.Fprintf(w, "Stored, but %s: something else goes before it, the store has what cannot be taken, or the program does not go by it.\n", other) // as in writeJSON
}
