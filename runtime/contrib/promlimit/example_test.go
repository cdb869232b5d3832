package promlimit_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/promlimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

func ExampleNew() {
	metrics := promlimit.New()
	prometheus.MustRegister(metrics)
	http.Handle("/metrics", promhttp.Handler())

	limiter, err := ratelimit.New(memlimit.New(), ratelimit.Observe(metrics))
	if err != nil {
		fmt.Println(err)
		return
	}
	guard := limiter.Guard("users.Service.Get", ratelimit.Rule{ // as a decorator does
		Key: "get", Limit: ratelimit.Limit{Count: 2, Period: time.Hour},
	})
	for range 5 {
		_ = guard.Allow(context.Background())
	}

	response := httptest.NewRecorder()
	http.DefaultServeMux.ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	text, err := io.ReadAll(response.Body)
	if err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "ratelimit_decisions_total") {
			fmt.Print(line)
		}
	}
	// Output:
	// ratelimit_decisions_total{limit="1h",method="users.Service.Get",outcome="allowed"} 2
	// ratelimit_decisions_total{limit="1h",method="users.Service.Get",outcome="refused"} 3
}

// The README's code is a part of the example.
func TestREADME(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(readme), "```go\n")
	code, _, found := strings.Cut(code, "```")
	if !found {
		t.Fatal("the README has no code")
	}
	for line := range strings.Lines(code) {
		if !strings.Contains(string(example), strings.TrimSpace(line)) {
			t.Errorf("the example does not have the README's line %s", line)
		}
	}
}
