package otellimit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/otellimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

var hourly = ratelimit.Limit{Count: 1, Period: time.Hour}

// observed returns an Observer and what reads its metrics.
func observed(t *testing.T) (*otellimit.Observer, *sdk.ManualReader) {
	t.Helper()
	reader := sdk.NewManualReader()
	observer, err := otellimit.New(otellimit.MeterProvider(sdk.NewMeterProvider(sdk.WithReader(reader))))
	if err != nil {
		t.Fatal(err)
	}
	return observer, reader
}

func newLimiter(t *testing.T, store ratelimit.Store, opts ...ratelimit.Option) *ratelimit.Limiter {
	t.Helper()
	limiter, err := ratelimit.New(store, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return limiter
}

// gather returns a line for each series, in order.
func gather(t *testing.T, reader sdk.Reader) []string {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &data); err != nil {
		t.Fatal(err)
	}
	var lines []string
	line := func(m metricdata.Metrics, attrs attribute.Set, value any) {
		lines = append(lines, fmt.Sprintf("%s %s [%s] %v", m.Name, m.Unit, attrs.Encoded(attribute.DefaultEncoder()), value))
	}
	for _, scope := range data.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					line(m, p.Attributes, p.Value)
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					line(m, p.Attributes, fmt.Sprint(p.Count, " times ", p.Sum, " in all"))
				}
			default:
				t.Errorf("%s is a %T", m.Name, m.Data)
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func check(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// slow is a Store that takes 3 ms.
type slow struct{ *memlimit.Store }

func (s slow) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	time.Sleep(3 * time.Millisecond)
	return s.Store.Take(ctx, charges, results)
}

func TestDecisions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		observer, reader := observed(t)
		limiter := newLimiter(t, slow{memlimit.New()}, ratelimit.Observe(observer))
		get := limiter.Guard("users.Service.Get",
			ratelimit.Rule{Key: "get", Limit: hourly},
			ratelimit.Rule{Key: "get", Name: "tried", Limit: hourly, Mode: ratelimit.ModeShadow},
		)
		for range 3 {
			_ = get.Allow(t.Context())
		}
		if _, err := limiter.Allow(t.Context(), "signup", hourly); err != nil {
			t.Error(err)
		}
		check(t, gather(t, reader),
			"ratelimit.decision.duration s [ratelimit.method=] 1 times 0.003 in all",
			"ratelimit.decision.duration s [ratelimit.method=users.Service.Get] 4 times 0.012 in all",
			"ratelimit.decisions {decision} [ratelimit.limit=1h,ratelimit.method=,ratelimit.outcome=allowed] 1",
			"ratelimit.decisions {decision} [ratelimit.limit=1h,ratelimit.method=users.Service.Get,ratelimit.outcome=allowed] 1",
			"ratelimit.decisions {decision} [ratelimit.limit=1h,ratelimit.method=users.Service.Get,ratelimit.outcome=refused] 2",
			"ratelimit.decisions {decision} [ratelimit.limit=tried,ratelimit.method=users.Service.Get,ratelimit.outcome=shadow_allowed] 1",
		)
	})
}

// down is a Store that does not answer.
type down struct {
	*memlimit.Store
	report func(server string, away bool, err error)
}

var errDown = errors.New("connection refused")

func (*down) Take(context.Context, []ratelimit.Charge, []ratelimit.Result) error { return errDown }
func (*down) Refund(context.Context, []ratelimit.Charge) error                   { return errDown }

func (d *down) WatchOutages(report func(server string, away bool, err error)) (stop func()) {
	d.report = report
	return func() {}
}

func TestFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		observer, reader := observed(t)
		store := &down{Store: memlimit.New()}
		limiter := newLimiter(t, store, ratelimit.Observe(observer), ratelimit.OnFailure(ratelimit.FailClosed))
		slots := ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 1, Period: time.Minute}
		if _, err := limiter.Guard("slots", ratelimit.Rule{Key: "s", Limit: slots}).Begin(t.Context()); err == nil {
			t.Error("a slot of a store that is down")
		}
		synctest.Wait() // it is given back, lest the store has given it after all
		for _, server := range []string{"10.0.0.1:6379", "[2001:db8::1]:6379", "a:1,b:2", "10.0.0.1:6379"} {
			store.report(server, true, errDown)
		}
		store.report("[2001:db8::1]:6379", false, nil)
		store.report("[2001:db8::1]:6379", false, nil)
		for _, e := range []ratelimit.Event{{}, {Gone: true}, {Err: &ratelimit.OverridesError{Err: errDown}}, {Err: errDown}} {
			e.Kind = ratelimit.EventOverrides
			observer.Observe(t.Context(), &e)
		}
		check(t, gather(t, reader),
			"ratelimit.outages {server} [server.address=10.0.0.1,server.port=6379] 1",
			"ratelimit.outages {server} [server.address=2001:db8::1,server.port=6379] 0",
			"ratelimit.outages {server} [server.address=a:1\\,b:2] 1",
			"ratelimit.overrides {change} [ratelimit.outcome=failed] 1",
			"ratelimit.overrides {change} [ratelimit.outcome=gone] 1",
			"ratelimit.overrides {change} [ratelimit.outcome=refused] 1",
			"ratelimit.overrides {change} [ratelimit.outcome=taken] 1",
			"ratelimit.store.errors {call} [ratelimit.failure=closed,ratelimit.method=slots] 1",
			"ratelimit.troubles {trouble} [ratelimit.method=slots] 1",
		)
	})
}

// The span of a call has what limits refused, and nothing of what they allowed.
func TestSpanEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		observer, _ := observed(t)
		spans := tracetest.NewSpanRecorder()
		tracer := trace.NewTracerProvider(trace.WithSpanProcessor(spans)).Tracer("test")
		memory := newLimiter(t, memlimit.New(), ratelimit.Observe(observer))
		guards := []*ratelimit.Guard{
			memory.Guard("get", ratelimit.Rule{Key: "k:{@user}", Limit: hourly}),
			memory.Guard("try", ratelimit.Rule{Key: "t", Limit: hourly, Mode: ratelimit.ModeShadow}),
			memory.Guard("large", ratelimit.Rule{Key: "l", Limit: hourly, Cost: 2}),
			newLimiter(t, &down{Store: memlimit.New()}, ratelimit.Observe(observer), ratelimit.OnFailure(ratelimit.FailOpen)).
				Guard("down", ratelimit.Rule{Key: "d", Limit: hourly}),
		}
		for range 2 {
			for _, guard := range guards {
				ctx, span := tracer.Start(ratelimit.WithCaller(t.Context(), "user", "ann"), "call")
				_ = guard.Allow(ctx)
				span.End()
			}
		}
		var got []string
		for _, span := range spans.Ended() {
			for _, event := range span.Events() {
				set := attribute.NewSet(event.Attributes...)
				got = append(got, event.Name+" "+set.Encoded(attribute.DefaultEncoder()))
			}
		}
		large := "ratelimit.refused ratelimit.limit=1h,ratelimit.method=large,ratelimit.outcome=refused"
		failed := "ratelimit.store_error error.type=*errors.errorString,ratelimit.failure=open,ratelimit.method=down"
		check(t, got,
			large, failed,
			"ratelimit.refused ratelimit.limit=1h,ratelimit.method=get,ratelimit.outcome=refused,ratelimit.retry_after=3600",
			"ratelimit.refused ratelimit.limit=1h,ratelimit.method=try,ratelimit.outcome=shadow_refused,ratelimit.retry_after=3600",
			large, failed,
		)
	})
}

// typed is an error of a store that tells what it is in a word, and the key in its text.
type typed struct{}

func (typed) Error() string     { return `redislimit: take "rl:{get:ann}:tb:1h": no answer within 100ms` }
func (typed) ErrorType() string { return "timeout" }

// The text of what a store says has the key in it, and a trace is kept by others.
func TestKeyInATraceByTheTextOfAnError(t *testing.T) {
	observer, _ := observed(t)
	spans := tracetest.NewSpanRecorder()
	tracer := trace.NewTracerProvider(trace.WithSpanProcessor(spans)).Tracer("test")
	for _, err := range []error{
		typed{}, fmt.Errorf("get: %w", typed{}), errors.Join(errDown, typed{}), fmt.Errorf("of ann: %w", context.DeadlineExceeded),
	} {
		ctx, span := tracer.Start(t.Context(), "call")
		observer.Observe(ctx, &ratelimit.Event{Kind: ratelimit.EventStoreError, Method: "get", Failure: ratelimit.FailOpen, Err: err})
		span.End()
	}
	var got []string
	for _, span := range spans.Ended() {
		for _, event := range span.Events() {
			set := attribute.NewSet(event.Attributes...)
			got = append(got, set.Encoded(attribute.DefaultEncoder()))
		}
	}
	const rest = ",ratelimit.failure=open,ratelimit.method=get"
	check(t, got, "error.type=timeout"+rest, "error.type=timeout"+rest, "error.type=timeout"+rest, "error.type=context.deadlineExceededError"+rest)
}

// P10: keys are no attributes: an attack makes no new series, neither by callers that are refused nor by others.
func TestSeriesDoNotGrowWithKeys(t *testing.T) {
	observer, reader := observed(t)
	guard := newLimiter(t, memlimit.New(), ratelimit.Observe(observer)).Guard("m", ratelimit.Rule{Key: "k:{@user}", Limit: hourly})
	series := func(from, to int) []string {
		for i := from; i < to; i++ {
			ctx := ratelimit.WithCaller(t.Context(), "user", fmt.Sprint(i))
			_, _ = guard.Allow(ctx), guard.Allow(ctx)
		}
		return gather(t, reader)
	}
	keys := 100_000
	if testing.Short() {
		keys = 10_000
	}
	few, many := series(0, 1), series(1, keys)
	if len(few) != len(many) {
		t.Errorf("%d series of 1 key, %d of %d", len(few), len(many), keys)
	}
	check(t, many[1:],
		"ratelimit.decisions {decision} [ratelimit.limit=1h,ratelimit.method=m,ratelimit.outcome=allowed] "+fmt.Sprint(keys),
		"ratelimit.decisions {decision} [ratelimit.limit=1h,ratelimit.method=m,ratelimit.outcome=refused] "+fmt.Sprint(keys),
	)
}

// refusing is a meter provider that cannot make some instruments.
type refusing struct{ noop.MeterProvider }

type refusingMeter struct{ noop.Meter }

func (refusing) Meter(string, ...metric.MeterOption) metric.Meter { return refusingMeter{} }

func (refusingMeter) Int64Counter(name string, _ ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return noop.Int64Counter{}, fmt.Errorf("no %s", name)
}

func TestNewReturnsErrorsOfTheProvider(t *testing.T) {
	_, err := otellimit.New(otellimit.MeterProvider(refusing{}))
	const want = "no ratelimit.decisions\nno ratelimit.store.errors\nno ratelimit.troubles\nno ratelimit.overrides"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// BenchmarkObserve models what a call of a method with one limit pays for its metrics.
func BenchmarkObserve(b *testing.B) {
	reader := sdk.NewManualReader()
	observer, err := otellimit.New(otellimit.MeterProvider(sdk.NewMeterProvider(sdk.WithReader(reader))))
	if err != nil {
		b.Fatal(err)
	}
	event := ratelimit.Event{
		Kind: ratelimit.EventDecision, Method: "users.Service.Get", Took: time.Millisecond,
		Outcomes: []ratelimit.Outcome{{Name: "1s", Limit: hourly, Result: ratelimit.Result{Allowed: true}}},
	}
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		observer.Observe(ctx, &event)
	}
	var data metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &data); err != nil || len(data.ScopeMetrics) != 1 {
		b.Errorf("%v, %d scopes", err, len(data.ScopeMetrics))
	}
}
