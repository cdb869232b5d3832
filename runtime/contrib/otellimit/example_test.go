package otellimit_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/otellimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

func ExampleNew() {
	reader := sdk.NewManualReader() // a program has one that exports
	otel.SetMeterProvider(sdk.NewMeterProvider(sdk.WithReader(reader)))

	telemetry, err := otellimit.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	limiter, err := ratelimit.New(memlimit.New(), ratelimit.Observe(telemetry))
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

	var data metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &data); err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range data.ScopeMetrics[0].Metrics {
		if sum, ok := m.Data.(metricdata.Sum[int64]); ok {
			for _, point := range sum.DataPoints {
				outcome, _ := point.Attributes.Value("ratelimit.outcome")
				fmt.Println(m.Name, outcome.AsString(), point.Value)
			}
		}
	}
	// Unordered output:
	// ratelimit.decisions allowed 2
	// ratelimit.decisions refused 3
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
