package httplimit_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// A server behind a proxy in 10.0.0.0/8. In place of the guard stands, as a rule, a generated decorator.
func ExampleMiddleware() {
	limiter, err := ratelimit.New(memlimit.New())
	if err != nil {
		fmt.Println(err)
		return
	}
	guard := limiter.Guard("service.TestService.TestGet", ratelimit.Rule{
		Key:   "testGet:{@ip}",
		Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1, Period: time.Minute},
	})

	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := guard.Allow(r.Context()); httplimit.WriteError(w, r, err) {
			return
		}
		_, _ = fmt.Fprintln(w, "hello")
	})
	server := httplimit.Middleware(httplimit.TrustedProxies(netip.MustParsePrefix("10.0.0.0/8")))(handler)

	for _, client := range []string{"198.51.100.7", "198.51.100.7", "198.51.100.8"} {
		r := httptest.NewRequest(http.MethodGet, "/test", nil)
		r.RemoteAddr = "10.0.0.5:4711"
		r.Header.Set("X-Forwarded-For", client)
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		fmt.Println(client, w.Code, w.Header().Get("RateLimit-Policy"), w.Header().Get("RateLimit"))
	}
	// Output:
	// 198.51.100.7 200 "1m";q=1;w=60 "1m";r=0;t=60
	// 198.51.100.7 429 "1m";q=1;w=60 "1m";r=0;t=60
	// 198.51.100.8 200 "1m";q=1;w=60 "1m";r=0;t=60
}

func ExampleWriteError() {
	err := fmt.Errorf("get user: %w", &ratelimit.LimitError{
		Method: "users.Service.Get",
		Name:   "1s",
		Limit:  ratelimit.Limit{Count: 5, Period: time.Second},
		Result: ratelimit.Result{Limit: 5, RetryAfter: 200 * time.Millisecond, ResetAfter: time.Second},
	})

	w := httptest.NewRecorder()
	if httplimit.WriteError(w, httptest.NewRequest(http.MethodGet, "/users/7", nil), err) {
		fmt.Println(w.Code, "Retry-After:", w.Header().Get("Retry-After"))
		fmt.Print(w.Body)
	}
	// Output:
	// 429 Retry-After: 1
	// {"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Request cannot be satisfied as assigned quota has been exceeded","status":429,"detail":"The request is over its limit. Try again in 1 second.","violated-policies":["1s"]}
}
