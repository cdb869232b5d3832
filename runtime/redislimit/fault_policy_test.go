package redislimit_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// answer is what a limited method, or its HTTP handler, answers.
type answer struct {
	err    string // undecided, limited, or none
	status int
	limits string // the field RateLimit, without the time
	retry  bool   // whether there is a field Retry-After
}

// S12, S14: while the server is away, calls are decided as the user chose. What is no refusal is not told as one, and no
// header tells what nobody knows.
func TestPolicyHoldsWhileTheServerIsAway(t *testing.T) {
	let := answer{"none", http.StatusOK, "", false}
	failed := answer{"undecided", http.StatusServiceUnavailable, "", false}
	counted := func(left int) answer {
		return answer{"none", http.StatusOK, fmt.Sprintf(`"1h";r=%d`, left), false}
	}
	refused := answer{"limited", http.StatusTooManyRequests, `"1h";r=0`, true}
	tests := []struct {
		failure ratelimit.Failure
		want    []answer // to one call after the other
	}{
		{ratelimit.FailLocal, []answer{counted(1), counted(0), refused, refused, refused, refused, refused}},
		{ratelimit.FailOpen, []answer{let, let, let, let, let, let, let}},
		{ratelimit.FailClosed, []answer{failed, failed, failed, failed, failed, failed, failed}},
	}
	away := []struct {
		name       string
		begin, end func(*redistest.Instance)
	}{
		{"killed", (*redistest.Instance).Kill, func(i *redistest.Instance) { i.Restart() }},
		{"frozen", (*redistest.Instance).Freeze, (*redistest.Instance).Thaw},
	}
	for _, away := range away {
		for _, test := range tests {
			t.Run(fmt.Sprintf("%s, fail %s", away.name, test.failure), func(t *testing.T) {
				t.Parallel()
				server := redistest.Start(t)
				client, direct := redis.NewClient(server.Options()), redis.NewClient(server.Options())
				defer func() { _, _ = client.Close(), direct.Close() }()
				var outages transitions
				limiter, err := ratelimit.New(redislimit.New(client, redislimit.OnOutage(outages.note)), ratelimit.OnFailure(test.failure))
				if err != nil {
					t.Fatal(err)
				}
				limit := ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 2, Period: time.Hour}
				method := limiter.Guard("m", ratelimit.Rule{Key: "method", Limit: limit})
				handler := limited(t, limiter.Guard("h", ratelimit.Rule{Key: "handler", Limit: limit}))

				away.begin(server)
				for i, want := range test.want {
					if got := answerOf(t, method, handler); got != want {
						t.Errorf("call %d:\n got %+v\nwant %+v", i+1, got, want)
					}
				}
				away.end(server)
				after := limiter.Guard("a", ratelimit.Rule{Key: "after", Limit: limit})
				eventually(t, func() error { return decidedBy(t, direct, after, "after") })
				eventually(t, func() error {
					if told := outages.told(); !slices.Equal(told, []bool{true, false}) {
						return fmt.Errorf("told %v of the server: want that it was down, and back", told)
					}
					return nil
				})
			})
		}
	}
}

// decidedBy returns an error unless the server has a bucket of a key for a call that a guard lets pass.
func decidedBy(t *testing.T, server *redis.Client, guard *ratelimit.Guard, key string) error {
	t.Helper()
	_ = guard.Allow(t.Context())
	if keys := server.Keys(t.Context(), "rl:{"+key+"}*").Val(); len(keys) != 1 {
		return fmt.Errorf("the server has %q: want a bucket of %s", keys, key)
	}
	return nil
}

// limited returns a handler as generated code limits it.
func limited(t *testing.T, guard *ratelimit.Guard) http.Handler {
	t.Helper()
	middleware := httplimit.Middleware()
	return middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := guard.Allow(r.Context()); err != nil {
			if !httplimit.WriteError(w, r, err) {
				t.Errorf("error %v: no answer", err)
			}
			return
		}
		w.WriteHeader(http.StatusOK)
	}))
}

func answerOf(t *testing.T, method *ratelimit.Guard, handler http.Handler) answer {
	t.Helper()
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	limits, _, _ := strings.Cut(w.Header().Get("RateLimit"), ";t=")
	a := answer{"none", w.Code, limits, w.Header().Get("Retry-After") != ""}
	err := method.Allow(t.Context())
	undecided, isUndecided := errors.AsType[*ratelimit.DecisionError](err)
	switch {
	case errors.Is(err, ratelimit.ErrLimited):
		if a.err = "limited"; isUndecided {
			t.Errorf("a refusal that is undecided: %v", err)
		}
	case isUndecided:
		if a.err = "undecided"; kindOf(undecided) == "" {
			t.Errorf("error %v: want the cause", err)
		}
	case err != nil:
		t.Errorf("error %v: want a LimitError or a DecisionError", err)
	}
	return a
}
