package httplimit

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// The names of the fields as http.Header keeps them.
const (
	policyField     = "Ratelimit-Policy"
	limitField      = "Ratelimit"
	xLimitField     = "X-Ratelimit-Limit"
	xRemainingField = "X-Ratelimit-Remaining"
	xResetField     = "X-Ratelimit-Reset"
)

// fields is what a response shows besides the most exhausted limit, a set.
type fields uint8

const (
	xRateLimit fields = 1 << iota // X-RateLimit-* as well
	allLimits                     // each limit, not only the most exhausted
)

// record is what was decided during one request. Its zero value is empty and ready for use by several goroutines.
type record struct {
	mu       sync.Mutex
	fields   fields
	methods  []string // of each outcome
	outcomes []ratelimit.Outcome
	answered any  // the *LimitError or *DecisionError that WriteError has answered
	missed   bool // the response began when nothing had been decided
}

var _ ratelimit.Recorder = (*record)(nil)

// Record implements [ratelimit.Recorder].
func (rec *record) Record(method string, outcomes []ratelimit.Outcome) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for _, o := range outcomes {
		if o.Shadow { // nobody's business yet
			continue
		}
		if i := rec.find(method, &o); i >= 0 {
			rec.outcomes[i] = ratelimit.MostExhausted([]ratelimit.Outcome{rec.outcomes[i], o})
			continue
		}
		rec.methods = append(rec.methods, method)
		rec.outcomes = append(rec.outcomes, o)
	}
}

// find returns the index of a limit that has been decided before, or -1. Limits without a method, of hand-written calls,
// are told apart by what they allow.
func (rec *record) find(method string, o *ratelimit.Outcome) int {
	for i := range rec.outcomes {
		if rec.methods[i] == method && rec.outcomes[i].Name == o.Name && rec.outcomes[i].Limit == o.Limit {
			return i
		}
	}
	return -1
}

// show makes the response show more.
func (rec *record) show(f fields) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.fields |= f
}

// answer notes that WriteError answers an error, and reports whether it has done so already. The error is a pointer, and
// another error is another pointer.
func (rec *record) answer(err any) (again bool) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	again = rec.answered == err
	rec.answered = err
	return again
}

// addLate adds to a header what was decided after addTo, if that had nothing to add. The header of a handler that has
// returned an error, and written nothing, is still open to whoever answers the error.
func (rec *record) addLate(h http.Header) {
	rec.mu.Lock()
	missed := rec.missed
	rec.mu.Unlock()
	if missed {
		rec.addTo(h)
	}
}

// addTo adds the record to a response's header. Lines that others have written stay.
func (rec *record) addTo(h http.Header) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if rec.missed = len(rec.outcomes) == 0; rec.missed {
		return
	}
	worst := ratelimit.MostExhausted(rec.outcomes)
	list := rec.outcomes
	if rec.fields&allLimits == 0 {
		list = []ratelimit.Outcome{worst}
	}
	var policy, limit []byte
	for i := range list {
		if i > 0 {
			policy, limit = append(policy, ", "...), append(limit, ", "...)
		}
		policy = appendPolicy(policy, &list[i])
		limit = appendLimit(limit, &list[i])
	}
	h[policyField] = append(h[policyField], string(policy))
	h[limitField] = append(h[limitField], string(limit))

	// These are no lists: a second value would spoil the first.
	if rec.fields&xRateLimit != 0 && h.Get(xLimitField) == "" {
		h.Set(xLimitField, strconv.FormatInt(worst.Result.Limit, 10))
		h.Set(xRemainingField, strconv.FormatInt(max(0, worst.Result.Remaining), 10))
		if resets(&worst.Result) {
			h.Set(xResetField, strconv.FormatInt(ceilSeconds(worst.Result.ResetAfter), 10))
		}
	}
}

// appendPolicy appends an item of RateLimit-Policy: "1s";q=5;w=1, or "slots";q=5;qu="concurrent-requests".
func appendPolicy(dst []byte, o *ratelimit.Outcome) []byte {
	dst = appendQuoted(dst, o.Name)
	dst = append(dst, ";q="...)
	dst = strconv.AppendInt(dst, o.Limit.Count, 10)
	if o.Limit.Algorithm == ratelimit.Concurrency {
		return append(dst, `;qu="concurrent-requests"`...)
	}
	dst = append(dst, ";w="...)
	return strconv.AppendInt(dst, ceilSeconds(o.Limit.Period), 10)
}

// appendLimit appends an item of RateLimit: "1s";r=4;t=1.
func appendLimit(dst []byte, o *ratelimit.Outcome) []byte {
	dst = appendQuoted(dst, o.Name)
	dst = append(dst, ";r="...)
	dst = strconv.AppendInt(dst, max(0, o.Result.Remaining), 10)
	if o.Limit.Algorithm == ratelimit.Concurrency || !resets(&o.Result) { // slots come back when calls end
		return dst
	}
	dst = append(dst, ";t="...)
	return strconv.AppendInt(dst, ceilSeconds(o.Result.ResetAfter), 10)
}

// resets reports whether time gives something back. It does not for a call that has no bucket for want of a caller
// attribute: nothing remains, and "in 0 seconds" would invite another try.
func resets(r *ratelimit.Result) bool { return r.Remaining > 0 || r.ResetAfter > 0 }

// appendQuoted appends a string of RFC 9651, which is printable ASCII. The names of a Rule are; what else a hand-made
// error may hold becomes '_'.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ' || c > '~':
			dst = append(dst, '_')
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// ceilSeconds returns d in whole seconds, rounded up so that nobody comes back too early, and never less than 0.
func ceilSeconds(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return int64((d-1)/time.Second) + 1
}
