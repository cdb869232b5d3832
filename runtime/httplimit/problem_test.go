package httplimit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
)

// refusal is a LimitError as a Guard makes it.
func refusal(name string, retryAfter time.Duration) *ratelimit.LimitError {
	result := ratelimit.Result{Limit: 5, RetryAfter: retryAfter, ResetAfter: time.Second}
	limit := ratelimit.Limit{Count: 5, Period: time.Second}
	return &ratelimit.LimitError{
		Method: "users.Service.Get", Name: name, Key: "secret:203.0.113.9", Limit: limit, Result: result, Status: 429,
		Refused: []ratelimit.Outcome{{Name: name, Limit: limit, Result: result}},
	}
}

// with returns e changed by f.
func with(e *ratelimit.LimitError, f func(*ratelimit.LimitError)) *ratelimit.LimitError {
	f(e)
	return e
}

const (
	quotaType  = "https://iana.org/assignments/http-problem-types#quota-exceeded"
	quotaTitle = "Request cannot be satisfied as assigned quota has been exceeded"
)

func quotaProblem(status int, detail string, policies ...any) map[string]any {
	p := map[string]any{"type": quotaType, "title": quotaTitle, "status": float64(status), "detail": detail}
	if len(policies) > 0 {
		p["violated-policies"] = policies
	}
	return p
}

// A handler of a web framework may be tested with a context that has no request.
func TestErrorWithoutARequestIsAnswered(t *testing.T) {
	w := httptest.NewRecorder()
	if !httplimit.WriteError(w, nil, refusal("1s", time.Second)) {
		t.Error("got false, want true")
	}
	if w.Code != http.StatusTooManyRequests || w.Header().Get("RateLimit") != `"1s";r=0;t=1` || w.Body.Len() == 0 {
		t.Errorf("got status %d, %v and a body of %d bytes", w.Code, w.Header(), w.Body.Len())
	}
}

func TestErrorsOfTheLimiterAreAnswered(t *testing.T) {
	undecided := &ratelimit.DecisionError{Method: "users.Service.Get", Err: errors.New("dial tcp 10.1.2.3:6379: connection refused")}
	unavailable := map[string]any{
		"type": "about:blank", "title": "Service Unavailable", "status": 503.0,
		"detail": "The limit of the request could not be checked.",
	}
	twoRefused := with(refusal("1s", 2*time.Second), func(e *ratelimit.LimitError) {
		e.Refused = append(e.Refused, ratelimit.Outcome{
			Name: "daily", Limit: ratelimit.Limit{Count: 9, Period: 24 * time.Hour},
			Result: ratelimit.Result{Limit: 9, RetryAfter: time.Second, ResetAfter: time.Hour},
		})
	})
	tryIn1, tryIn2 := "The request is over its limit. Try again in 1 second.", "The request is over its limit. Try again in 2 seconds."
	for _, c := range []struct {
		name              string
		err               error
		status            int
		retryAfter, limit string
		body              map[string]any
	}{
		{"refusal", refusal("1s", 200*time.Millisecond), 429, "1", `"1s";r=0;t=1`, quotaProblem(429, tryIn1, "1s")},
		{"wrapped", fmt.Errorf("get user: %w", refusal("1s", 2*time.Second)), 429, "2", `"1s";r=0;t=1`, quotaProblem(429, tryIn2, "1s")},
		{"two limits", twoRefused, 429, "2", `"1s";r=0;t=1`, quotaProblem(429, tryIn2, "1s", "daily")},
		{
			"status and message of the directive",
			with(refusal("1s", time.Second), func(e *ratelimit.LimitError) { e.Status, e.Message = 503, "<Later> \"please\"" }),
			503, "1", `"1s";r=0;t=1`, quotaProblem(503, "<Later> \"please\"", "1s"),
		},
		{
			"never", refusal("1s", ratelimit.Never), 429, "", `"1s";r=0;t=1`,
			quotaProblem(429, "The request asks for more than its limit can ever admit.", "1s"),
		},
		{
			"no caller attribute",
			with(refusal("1s", ratelimit.Never), func(e *ratelimit.LimitError) {
				e.Missing, e.Message, e.Refused[0].Result.ResetAfter = "ip", "Five a second.", 0
			}),
			429, "", `"1s";r=0`,
			quotaProblem(429, "The request does not identify its caller, and its limit is kept for each caller.", "1s"),
		},
		{"made by hand, empty", &ratelimit.LimitError{}, 429, "1", "", quotaProblem(429, tryIn1)},
		{
			"made by hand, odd",
			&ratelimit.LimitError{Name: "a\"b\\\r\né", Status: 42, Limit: ratelimit.Limit{Count: 1, Period: time.Second}},
			429, "1", `"a\"b\\____";r=0`, quotaProblem(429, tryIn1, "a\"b\\\r\né"),
		},
		{"undecided", undecided, 503, "", "", unavailable},
		{"client gone", &ratelimit.DecisionError{Err: context.Canceled}, 503, "", "", unavailable},
		{"refused and undecided", errors.Join(undecided, refusal("1s", time.Second)), 429, "1", `"1s";r=0;t=1`, quotaProblem(429, tryIn1, "1s")},
	} {
		t.Run(c.name, func(t *testing.T) {
			direct := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Length", "1000") // of what the handler meant to write
				if !httplimit.WriteError(w, r, c.err) {
					t.Error("WriteError returned false")
				}
			})
			for where, h := range map[string]http.Handler{"alone": direct, "in Middleware": httplimit.Middleware()(direct)} {
				res := serve(h, request(peer, nil))
				if res.status != c.status {
					t.Errorf("%s: got status %d, want %d", where, res.status, c.status)
				}
				expect(t, res.header, "Content-Type", "application/problem+json")
				expect(t, res.header, "Content-Length", "")
				expect(t, res.header, "Cache-Control", "no-store")
				expect(t, res.header, "Retry-After", c.retryAfter)
				expect(t, res.header, "RateLimit", c.limit)
				var body map[string]any
				if err := json.Unmarshal([]byte(res.body), &body); err != nil || !reflect.DeepEqual(body, c.body) {
					t.Errorf("%s: got body %s (%v), want %v", where, res.body, err, c.body)
				}
				for _, secret := range []string{"secret", "10.1.2.3", "users.Service"} {
					if strings.Contains(res.body, secret) {
						t.Errorf("%s: the body leaks %q: %s", where, secret, res.body)
					}
				}
			}
		})
	}
}

func TestOtherErrorsAreLeftAlone(t *testing.T) {
	var typedNil *ratelimit.LimitError
	for _, err := range []error{nil, io.EOF, context.Canceled, http.ErrAbortHandler, typedNil} {
		w := httptest.NewRecorder()
		if httplimit.WriteError(w, request(peer, nil), err) {
			t.Errorf("WriteError(%T) returned true", err)
		}
		if len(w.Header()) > 0 || w.Body.Len() > 0 {
			t.Errorf("WriteError(%T) wrote %v %q", err, w.Header(), w.Body)
		}
	}
}

func TestHeadHasNoBody(t *testing.T) {
	w := httptest.NewRecorder()
	if !httplimit.WriteError(w, httptest.NewRequest(http.MethodHead, "/", nil), refusal("1s", time.Second)) || w.Code != 429 {
		t.Errorf("got status %d, want 429", w.Code)
	}
	if w.Body.Len() > 0 {
		t.Errorf("got body %q, want none", w.Body)
	}
}

// H09
func TestRetryAfterIsNotAnEpoch(t *testing.T) {
	store := &fakeStore{}
	h := httplimit.Middleware()(limited(newGuard(t, store, "", ratelimit.Rule{Key: "k", Limit: window60(2)})))
	for i, want := range []string{"", "", "50"} {
		store.at(time.Duration(i) * 5 * time.Second)
		expect(t, serve(h, request(peer, nil)).header, "Retry-After", want)
	}
}

// R02
func TestRetryAfterIsRoundedUp(t *testing.T) {
	for wait, want := range map[time.Duration]string{
		1200 * time.Millisecond:    "2",
		time.Second:                "1",
		time.Second + 1:            "2",
		time.Microsecond:           "1",
		0:                          "1", // a refusal that says "now" would be asked again at once
		-time.Second:               "1",
		ratelimit.Never - 1:        "9223372037",
		ratelimit.Never:            "",
		100 * 365 * 24 * time.Hour: "3153600000",
	} {
		w := httptest.NewRecorder()
		httplimit.WriteError(w, request(peer, nil), refusal("1s", wait))
		expect(t, w.Header(), "Retry-After", want)
	}
}

// A wrapper of an HTTP handler with an error result has answered the error that it returns.
func TestAnsweredErrorIsNotAnsweredAgain(t *testing.T) {
	for _, err := range []error{refusal("1s", time.Second), &ratelimit.DecisionError{Err: io.EOF}} {
		var bodies []string
		for times := 1; times <= 2; times++ {
			h := httplimit.Middleware()(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				for range times {
					if !httplimit.WriteError(w, r, fmt.Errorf("wrapped: %w", err)) {
						t.Error("WriteError returned false")
					}
				}
			}))
			bodies = append(bodies, serve(h, request(peer, nil)).body)
		}
		if bodies[0] != bodies[1] {
			t.Errorf("%T: got body %q, want %q", err, bodies[1], bodies[0])
		}
	}
}
