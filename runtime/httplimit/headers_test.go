package httplimit_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

func TestFieldsOfTheQuickstart(t *testing.T) {
	h := httplimit.Middleware()(limited(newGuard(t, &fakeStore{}, "", perSecond)))
	for _, limit := range []string{`"1s";r=4;t=1`, `"1s";r=3;t=1`, `"1s";r=2;t=1`, `"1s";r=1;t=1`, `"1s";r=0;t=1`, `"1s";r=0;t=1`} {
		res := serve(h, request(peer, nil))
		expect(t, res.header, "RateLimit-Policy", `"1s";q=5;w=1`)
		expect(t, res.header, "RateLimit", limit)
		expect(t, res.header, "X-RateLimit-Limit", "")
	}
}

// H10, R44
func TestResetIsNotZeroOnceNothingIsLeft(t *testing.T) {
	store := &fakeStore{}
	guard := newGuard(t, store, "", ratelimit.Rule{Key: "k", Name: "minute", Limit: window60(2)})
	h := httplimit.Middleware(httplimit.XRateLimit())(limited(guard))
	for _, step := range []struct {
		at                           time.Duration
		status                       int
		remaining, reset, retryAfter string
	}{
		{0, 200, "1", "60", ""},
		{5 * time.Second, 200, "0", "55", ""},
		{10 * time.Second, 429, "0", "50", "50"},
		{10*time.Second + 81*time.Millisecond, 429, "0", "50", "50"}, // 49.919 s, rounded up
		{59*time.Second + 999999*time.Microsecond, 429, "0", "1", "1"},
		{60 * time.Second, 200, "1", "60", ""}, // who waited as told is admitted
	} {
		store.at(step.at)
		res := serve(h, request(peer, nil))
		if res.status != step.status {
			t.Errorf("at %v: got status %d, want %d", step.at, res.status, step.status)
		}
		expect(t, res.header, "RateLimit", fmt.Sprintf(`"minute";r=%s;t=%s`, step.remaining, step.reset))
		expect(t, res.header, "X-RateLimit-Limit", "2")
		expect(t, res.header, "X-RateLimit-Remaining", step.remaining)
		expect(t, res.header, "X-RateLimit-Reset", step.reset)
		expect(t, res.header, "Retry-After", step.retryAfter)
	}
}

// Slots come back when calls end, not with time.
func TestFieldsOfSlots(t *testing.T) {
	limiter, err := ratelimit.New(memlimit.New())
	if err != nil {
		t.Fatal(err)
	}
	limit := ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 2, Period: 30 * time.Second}
	guard := limiter.Guard("m", ratelimit.Rule{Key: "k", Name: "slots", Limit: limit})
	h := httplimit.Middleware(httplimit.XRateLimit())(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		call, err := guard.Begin(r.Context())
		if err != nil {
			t.Error(err)
			return
		}
		defer call.End()
	}))
	refused := httptest.NewRecorder()
	limitErr := &ratelimit.LimitError{Name: "slots", Limit: limit, Result: ratelimit.Result{Limit: 2, RetryAfter: 29 * time.Second}}
	httplimit.WriteError(refused, request(peer, nil), limitErr)
	expect(t, refused.Header(), "Retry-After", "1")
	res := serve(h, request(peer, nil))
	expect(t, res.header, "RateLimit-Policy", `"slots";q=2;qu="concurrent-requests"`)
	expect(t, res.header, "RateLimit", `"slots";r=1`)
	expect(t, res.header, "X-RateLimit-Remaining", "1")
}

func TestShadowsAreNotShown(t *testing.T) {
	rule := perSecond
	rule.Mode = ratelimit.ModeShadow
	h := httplimit.Middleware(httplimit.AllLimits())(limited(newGuard(t, &fakeStore{}, "", rule)))
	res := serve(h, request(peer, nil))
	expect(t, res.header, "RateLimit-Policy", "")
	expect(t, res.header, "RateLimit", "")
}

func TestAllLimitsListsHandWrittenCalls(t *testing.T) {
	limiter, err := ratelimit.New(&fakeStore{})
	if err != nil {
		t.Fatal(err)
	}
	h := httplimit.Middleware(httplimit.AllLimits())(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		for key, count := range []int64{5, 100} {
			if _, err := limiter.Allow(r.Context(), strconv.Itoa(key), ratelimit.Limit{Count: count, Period: time.Second}); err != nil {
				t.Error(err)
			}
		}
	}))
	expect(t, serve(h, request(peer, nil)).header, "RateLimit-Policy", `"1s";q=5;w=1, "1s";q=100;w=1`)
}

// H11
func TestRemainingIsPresentAndNeverNegative(t *testing.T) {
	h := httplimit.Middleware(httplimit.XRateLimit())(limited(newGuard(t, &fakeStore{}, "", ratelimit.Rule{Key: "k", Limit: window60(2)})))
	for i, want := range []string{"1", "0", "0", "0", "0"} {
		res := serve(h, request(peer, nil))
		if refused := res.status == http.StatusTooManyRequests; refused != (i >= 2) {
			t.Errorf("call %d: got status %d", i+1, res.status)
		}
		expect(t, res.header, "RateLimit-Policy", `"1m";q=2;w=60`)
		expect(t, res.header, "RateLimit", fmt.Sprintf(`"1m";r=%s;t=60`, want))
		expect(t, res.header, "X-RateLimit-Limit", "2")
		expect(t, res.header, "X-RateLimit-Remaining", want)
		expect(t, res.header, "X-RateLimit-Reset", "60")
	}

	// A Store of someone else's may be wrong about it.
	negative := &fakeStore{answer: func(ratelimit.Charge) ratelimit.Result {
		return ratelimit.Result{Limit: 2, Remaining: -1, RetryAfter: -time.Second, ResetAfter: -time.Second}
	}}
	res := serve(httplimit.Middleware()(limited(newGuard(t, negative, "", ratelimit.Rule{Key: "k", Limit: window60(2)}))), request(peer, nil))
	expect(t, res.header, "RateLimit", `"1m";r=0`)
	expect(t, res.header, "Retry-After", "1")
}

// H12
func TestFieldsOfTwoLimitersAreBothKept(t *testing.T) {
	results := map[string]ratelimit.Result{
		"burst": {Allowed: true, Limit: 100, Remaining: 50, ResetAfter: 30 * time.Second},
		"daily": {Allowed: true, Limit: 10000, Remaining: 9000, ResetAfter: 80000*time.Second + 1},
	}
	store := &fakeStore{answer: func(c ratelimit.Charge) ratelimit.Result { return results[c.Name] }}
	burst := newGuard(t, store, "a", ratelimit.Rule{Key: "k", Name: "burst", Limit: window60(100)})
	daily := newGuard(t, store, "b", ratelimit.Rule{Key: "k", Name: "daily", Limit: ratelimit.Limit{Count: 10000, Period: 24 * time.Hour}})
	const (
		burstPolicy, burstLimit = `"burst";q=100;w=60`, `"burst";r=50;t=30`
		dailyPolicy, dailyLimit = `"daily";q=10000;w=86400`, `"daily";r=9000;t=80001`
	)
	foreign := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Add("RateLimit-Policy", `"edge";q=7;w=1`)
			w.Header().Add("RateLimit", `"edge";r=6;t=1`)
			w.Header().Add("X-RateLimit-Limit", "7")
			w.Header().Add("X-RateLimit-Remaining", "6")
			next.ServeHTTP(w, r)
		})
	}
	for _, c := range []struct {
		name            string
		handler         http.Handler
		policies, limit []string
	}{
		{
			"the most exhausted", httplimit.Middleware()(limited(daily, burst)),
			[]string{burstPolicy},
			[]string{burstLimit},
		},
		{
			"all", httplimit.Middleware(httplimit.AllLimits())(limited(burst, daily)),
			[]string{burstPolicy, dailyPolicy},
			[]string{burstLimit, dailyLimit},
		},
		{
			"all, in the order of decisions", httplimit.Middleware(httplimit.AllLimits())(limited(daily, burst, daily)),
			[]string{dailyPolicy, burstPolicy},
			[]string{dailyLimit, burstLimit},
		},
		{
			"all, asked for by an inner Middleware", httplimit.Middleware()(httplimit.Middleware(httplimit.AllLimits())(limited(burst, daily))),
			[]string{burstPolicy, dailyPolicy},
			[]string{burstLimit, dailyLimit},
		},
		{
			"somebody else's", foreign(httplimit.Middleware(httplimit.XRateLimit())(limited(burst))),
			[]string{`"edge";q=7;w=1`, burstPolicy},
			[]string{`"edge";r=6;t=1`, burstLimit},
		},
		{
			"somebody else's, inside", httplimit.Middleware(httplimit.XRateLimit())(foreign(limited(burst))),
			[]string{`"edge";q=7;w=1`, burstPolicy},
			[]string{`"edge";r=6;t=1`, burstLimit},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := serve(c.handler, request(peer, nil)).header
			if got := list(t, h, "RateLimit-Policy"); fmt.Sprint(got) != fmt.Sprint(c.policies) {
				t.Errorf("RateLimit-Policy: got %q, want %q", got, c.policies)
			}
			if got := list(t, h, "RateLimit"); fmt.Sprint(got) != fmt.Sprint(c.limit) {
				t.Errorf("RateLimit: got %q, want %q", got, c.limit)
			}
			if x := h.Values("X-RateLimit-Limit"); strings.HasPrefix(c.name, "somebody") {
				if len(x) != 1 || x[0] != "7" || h.Get("X-RateLimit-Reset") != "" {
					t.Errorf("X-RateLimit-*: %q: want somebody else's alone", x)
				}
			}
		})
	}
}

// list reads a field as a structured-field list (RFC 9651) of strings with integer parameters, and returns its members.
func list(t *testing.T, h http.Header, name string) []string {
	t.Helper()
	members := strings.Split(strings.Join(h.Values(name), ", "), ", ")
	for _, member := range members {
		item, parameters, _ := strings.Cut(member, ";")
		if len(item) < 2 || item[0] != '"' || item[len(item)-1] != '"' || strings.Contains(item[1:len(item)-1], `"`) {
			t.Errorf("%s: %s is not a string", name, item)
		}
		for p := range strings.SplitSeq(parameters, ";") {
			key, value, _ := strings.Cut(p, "=")
			if _, err := strconv.ParseUint(value, 10, 50); err != nil || len(key) != 1 || key[0] < 'a' || key[0] > 'z' {
				t.Errorf("%s: %s is not an integer parameter", name, p)
			}
		}
	}
	return members
}

// H13
func TestFieldsAreOfTheDecisionItself(t *testing.T) {
	const n = 100
	guard := newGuard(t, &fakeStore{}, "", ratelimit.Rule{Key: "k", Limit: window60(n)})
	h := httplimit.Middleware()(limited(guard))
	fields := make([]string, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { fields[i] = serve(h, request(peer, nil)).header.Get("RateLimit") })
	}
	wg.Wait()
	seen := make(map[string]int)
	for _, f := range fields {
		seen[f]++
	}
	for r := range n {
		if f := fmt.Sprintf(`"1m";r=%d;t=60`, r); seen[f] != 1 {
			t.Errorf("%s was sent %d times, want once", f, seen[f])
		}
	}
}

// One request may ask from several goroutines, and more than once.
func TestDecisionsOfOneRequestAreMerged(t *testing.T) {
	guard := newGuard(t, &fakeStore{}, "m", ratelimit.Rule{Key: "k", Limit: window60(100)})
	for name, want := range map[string]int{"m": 1, "other": 2} {
		other := newGuard(t, &fakeStore{}, name, ratelimit.Rule{Key: "other", Limit: window60(100)})
		h := httplimit.Middleware(httplimit.AllLimits())(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			var wg sync.WaitGroup
			for range 10 {
				wg.Go(func() {
					if err := errors.Join(guard.Allow(r.Context()), other.Allow(r.Context())); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
		}))
		if got := list(t, serve(h, request(peer, nil)).header, "RateLimit"); len(got) != want {
			t.Errorf("limits of one name in methods m and %s: got %q, want %d members", name, got, want)
		}
	}
}

func TestUndecidedRequestHasNoFields(t *testing.T) {
	h := httplimit.Middleware(httplimit.XRateLimit(), httplimit.AllLimits())(limited())
	res := serve(h, request(peer, nil))
	expect(t, res.header, "RateLimit-Policy", "")
	expect(t, res.header, "RateLimit", "")
	expect(t, res.header, "X-RateLimit-Limit", "")
}

func TestDurationsAreRoundedUp(t *testing.T) {
	for _, c := range []struct {
		period, reset time.Duration
		policy, limit string
	}{
		{time.Millisecond, time.Microsecond, `"n";q=1;w=1`, `"n";r=1;t=1`},
		{time.Second, time.Second, `"n";q=1;w=1`, `"n";r=1;t=1`},
		{1500 * time.Millisecond, time.Second + 1, `"n";q=1;w=2`, `"n";r=1;t=2`},
		{366 * 24 * time.Hour, 0, `"n";q=1;w=31622400`, `"n";r=1;t=0`},
		{time.Second, ratelimit.Never, `"n";q=1;w=1`, `"n";r=1;t=9223372037`}, // no overflow
	} {
		store := &fakeStore{answer: func(ratelimit.Charge) ratelimit.Result {
			return ratelimit.Result{Allowed: true, Limit: 1, Remaining: 1, ResetAfter: c.reset}
		}}
		guard := newGuard(t, store, "", ratelimit.Rule{Key: "k", Name: "n", Limit: ratelimit.Limit{Count: 1, Period: c.period}})
		h := serve(httplimit.Middleware()(limited(guard)), request(peer, nil)).header
		expect(t, h, "RateLimit-Policy", c.policy)
		expect(t, h, "RateLimit", c.limit)
	}
}
