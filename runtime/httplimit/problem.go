package httplimit

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// WriteError answers a request whose call the limiter did not let pass, and reports whether err says so. If it returns
// false, for nil and for any other error, nothing has been written. The error may be wrapped.
//
// A [*ratelimit.LimitError] is answered with its status, by default 429, the fields of [Middleware], and a Retry-After in
// whole seconds, rounded up and at least 1, unless no wait can help. A [*ratelimit.DecisionError] is answered 503 without
// a Retry-After, since nobody knows. If both are joined, the refusal is answered, which is the one that is certain.
//
// The body is a problem document (RFC 9457). It holds the directive's message and the names of the limits that refused,
// but neither the key of the bucket nor the text of an error. Without Middleware, the fields show the error's own limit.
// Inside of Middleware, an error that has been answered is not answered again: generated wrappers of HTTP handlers
// answer the error that they return. A nil request, as handlers of web frameworks are tested with, is one that Middleware
// has not seen.
func WriteError(w http.ResponseWriter, r *http.Request, err error) bool {
	if r == nil {
		r = new(http.Request)
	}
	var refused *ratelimit.LimitError
	if errors.As(err, &refused) && refused != nil {
		writeRefusal(w, r, refused)
		return true
	}
	var undecided *ratelimit.DecisionError
	if errors.As(err, &undecided) && undecided != nil {
		writeUndecided(w, r, undecided)
		return true
	}
	return false
}

func writeRefusal(w http.ResponseWriter, r *http.Request, e *ratelimit.LimitError) {
	outcomes := e.Refused
	if len(outcomes) == 0 && e.Limit.Count > 0 { // not an error of the limiter's own making
		outcomes = []ratelimit.Outcome{{Name: e.Name, Limit: e.Limit, Result: e.Result}}
	}
	if rec, ok := r.Context().Value(recordKey{}).(*record); ok {
		if rec.answer(e) {
			return
		}
		rec.Record(e.Method, outcomes) // a refusal for want of a caller attribute was not recorded
		rec.addLate(w.Header())
	} else {
		var own record
		own.Record(e.Method, outcomes)
		own.addTo(w.Header())
	}

	detail, wait := Advice(e)
	if wait != ratelimit.Never {
		w.Header().Set("Retry-After", strconv.FormatInt(ceilSeconds(wait), 10))
	}
	p := problem{Type: quotaExceeded, Title: quotaExceededTitle, Status: e.Status, Detail: detail}
	if p.Status < 400 || p.Status > 999 { // unset, or nothing that could be written
		p.Status = http.StatusTooManyRequests
	}
	for _, o := range outcomes {
		p.ViolatedPolicies = append(p.ViolatedPolicies, o.Name)
	}
	writeProblem(w, r, p)
}

func writeUndecided(w http.ResponseWriter, r *http.Request, e *ratelimit.DecisionError) {
	if rec, ok := r.Context().Value(recordKey{}).(*record); ok && rec.answer(e) {
		return
	}
	writeProblem(w, r, problem{
		Type:   blank,
		Title:  http.StatusText(http.StatusServiceUnavailable),
		Status: http.StatusServiceUnavailable,
		Detail: "The limit of the request could not be checked.",
	})
}

// Problem types.
const (
	quotaExceeded      = "https://iana.org/assignments/http-problem-types#quota-exceeded"
	quotaExceededTitle = "Request cannot be satisfied as assigned quota has been exceeded"
	blank              = "about:blank" // the status says it all
)

// problem is a problem document of RFC 9457.
type problem struct {
	Type             string   `json:"type"`
	Title            string   `json:"title"`
	Status           int      `json:"status"`
	Detail           string   `json:"detail,omitempty"`
	ViolatedPolicies []string `json:"violated-policies,omitempty"`
}

func writeProblem(w http.ResponseWriter, r *http.Request, p problem) {
	h := w.Header()
	h.Del("Content-Length") // of another body, as in http.Error
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	if r.Method != http.MethodHead {
		_ = json.NewEncoder(w).Encode(p) // fails only if the client is gone
	}
}
