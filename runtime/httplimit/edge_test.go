package httplimit_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
)

// fakeStore counts in fixed windows, whatever the algorithm, on a clock that the test sets.
type fakeStore struct {
	ratelimit.Store // nil: no test peeks, refunds or resets

	mu      sync.Mutex
	now     time.Duration
	windows map[string]*window
	err     error                                            // what Take returns, if not nil
	answer  func(ratelimit.Charge) (result ratelimit.Result) // what Take answers, if not nil
}

type window struct {
	start time.Duration
	used  int64
}

func (s *fakeStore) Take(_ context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	allowed := true
	windows := make([]*window, len(charges))
	for i, c := range charges {
		if s.answer != nil {
			results[i] = s.answer(c)
			continue
		}
		windows[i] = s.window(string(c.Key)+" "+c.Name, c.Limit.Period)
		allowed = allowed && windows[i].used+c.Cost <= c.Limit.Count
	}
	if s.answer != nil {
		return nil
	}
	for i, c := range charges {
		w := windows[i]
		r := ratelimit.Result{Limit: c.Limit.Count, Allowed: w.used+c.Cost <= c.Limit.Count}
		if allowed {
			w.used += c.Cost
		}
		r.Remaining = c.Limit.Count - w.used
		if w.used > 0 {
			r.ResetAfter = w.start + c.Limit.Period - s.now
		}
		if !r.Allowed {
			r.RetryAfter = r.ResetAfter
			if c.Cost > c.Limit.Count {
				r.RetryAfter = ratelimit.Never
			}
		}
		results[i] = r
	}
	return nil
}

func (s *fakeStore) window(key string, period time.Duration) *window {
	w := s.windows[key]
	if w == nil || s.now >= w.start+period {
		if s.windows == nil {
			s.windows = make(map[string]*window)
		}
		w = &window{start: s.now}
		s.windows[key] = w
	}
	return w
}

// at sets the clock.
func (s *fakeStore) at(now time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}

func newGuard(tb testing.TB, store ratelimit.Store, method string, rules ...ratelimit.Rule) *ratelimit.Guard {
	tb.Helper()
	limiter, err := ratelimit.New(store)
	if err != nil {
		tb.Fatal(err)
	}
	return limiter.Guard(method, rules...)
}

// limited is a handler that asks guards in turn and answers 200, or what WriteError makes of the first error.
func limited(guards ...*ratelimit.Guard) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, g := range guards {
			if err := g.Allow(r.Context()); err != nil {
				if !httplimit.WriteError(w, r, err) {
					http.Error(w, err.Error(), http.StatusInternalServerError)
				}
				return
			}
		}
		_, _ = w.Write([]byte("ok"))
	})
}

// request is a GET from a peer.
func request(remoteAddr string, header http.Header) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = remoteAddr
	for name, values := range header {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	return r
}

// response is what a client sees.
type response struct {
	major  int // of HTTP
	status int
	header http.Header // as it was sent
	body   string
}

func serve(h http.Handler, r *http.Request) response {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	res := w.Result()
	defer func() { _ = res.Body.Close() }()
	return response{res.ProtoMajor, res.StatusCode, res.Header, w.Body.String()}
}

// peer is the address of a client in tests where it does not matter.
const peer = "203.0.113.9:4444"

// perSecond is the limit of the quickstart.
var perSecond = ratelimit.Rule{Key: "testGet:{@ip}", Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 5, Period: time.Second}}

func window60(count int64) ratelimit.Limit {
	return ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: count, Period: time.Minute}
}

func expect(t *testing.T, h http.Header, name, want string) {
	t.Helper()
	switch values := h.Values(name); {
	case want == "" && len(values) > 0:
		t.Errorf("%s: got %q, want none", name, values)
	case want != "" && (len(values) != 1 || values[0] != want):
		t.Errorf("%s: got %q, want one line %q", name, values, want)
	}
}
