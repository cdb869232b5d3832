package promlimit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/promlimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

var hourly = ratelimit.Limit{Count: 1, Period: time.Hour}

func newLimiter(t *testing.T, store ratelimit.Store, opts ...ratelimit.Option) *ratelimit.Limiter {
	t.Helper()
	limiter, err := ratelimit.New(store, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return limiter
}

// check compares what is exposed of the metrics that want names.
func check(t *testing.T, c prometheus.Collector, want string) {
	t.Helper()
	var names []string
	for line := range strings.Lines(want) {
		if fields := strings.Fields(line); len(fields) > 3 && fields[1] == "TYPE" {
			names = append(names, fields[2])
		}
	}
	if err := testutil.CollectAndCompare(c, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
	problems, err := testutil.CollectAndLint(c)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

func TestDecisions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		metrics := promlimit.New()
		limiter := newLimiter(t, memlimit.New(), ratelimit.Observe(metrics))
		get := limiter.Guard("users.Service.Get",
			ratelimit.Rule{Key: "get", Limit: hourly},
			ratelimit.Rule{Key: "get", Name: "tried", Limit: hourly, Mode: ratelimit.ModeShadow},
		)
		list := limiter.Guard("users.Service.List",
			ratelimit.Rule{Key: "list", Name: "tried", Limit: hourly, Mode: ratelimit.ModeShadow},
		)
		for range 3 {
			_, _ = get.Allow(t.Context()), list.Allow(t.Context())
		}
		if _, err := limiter.Allow(t.Context(), "signup", hourly); err != nil {
			t.Error(err)
		}
		check(t, metrics, `
			# HELP ratelimit_decisions_total What limits answered to calls.
			# TYPE ratelimit_decisions_total counter
			ratelimit_decisions_total{limit="1h",method="",outcome="allowed"} 1
			ratelimit_decisions_total{limit="1h",method="users.Service.Get",outcome="allowed"} 1
			ratelimit_decisions_total{limit="1h",method="users.Service.Get",outcome="refused"} 2
			ratelimit_decisions_total{limit="tried",method="users.Service.Get",outcome="shadow_allowed"} 1
			ratelimit_decisions_total{limit="tried",method="users.Service.List",outcome="shadow_allowed"} 1
			ratelimit_decisions_total{limit="tried",method="users.Service.List",outcome="shadow_refused"} 2
			# HELP ratelimit_outages Servers of stores that are away.
			# TYPE ratelimit_outages gauge
			ratelimit_outages 0
		`)
	})
}

// slow is a Store that takes 3 ms.
type slow struct{ *memlimit.Store }

func (s slow) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	time.Sleep(3 * time.Millisecond)
	return s.Store.Take(ctx, charges, results)
}

func TestDurations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		metrics := promlimit.New()
		guard := newLimiter(t, slow{memlimit.New()}, ratelimit.Observe(metrics)).Guard("m", ratelimit.Rule{Key: "k", Limit: hourly})
		for range 2 {
			_ = guard.Allow(t.Context())
		}
		check(t, metrics, `
			# HELP ratelimit_decision_duration_seconds How long stores took to decide a call.
			# TYPE ratelimit_decision_duration_seconds histogram
			ratelimit_decision_duration_seconds_bucket{method="m",le="1e-06"} 0
			ratelimit_decision_duration_seconds_bucket{method="m",le="1e-05"} 0
			ratelimit_decision_duration_seconds_bucket{method="m",le="0.0001"} 0
			ratelimit_decision_duration_seconds_bucket{method="m",le="0.00025"} 0
			ratelimit_decision_duration_seconds_bucket{method="m",le="0.0005"} 0
			ratelimit_decision_duration_seconds_bucket{method="m",le="0.001"} 0
			ratelimit_decision_duration_seconds_bucket{method="m",le="0.0025"} 0
			ratelimit_decision_duration_seconds_bucket{method="m",le="0.005"} 2
			ratelimit_decision_duration_seconds_bucket{method="m",le="0.01"} 2
			ratelimit_decision_duration_seconds_bucket{method="m",le="0.025"} 2
			ratelimit_decision_duration_seconds_bucket{method="m",le="0.05"} 2
			ratelimit_decision_duration_seconds_bucket{method="m",le="0.1"} 2
			ratelimit_decision_duration_seconds_bucket{method="m",le="0.25"} 2
			ratelimit_decision_duration_seconds_bucket{method="m",le="1"} 2
			ratelimit_decision_duration_seconds_bucket{method="m",le="+Inf"} 2
			ratelimit_decision_duration_seconds_sum{method="m"} 0.006
			ratelimit_decision_duration_seconds_count{method="m"} 2
		`)
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
		metrics := promlimit.New()
		store := &down{Store: memlimit.New()}
		limiter := newLimiter(t, store, ratelimit.Observe(metrics), ratelimit.LocalStore(memlimit.New()))
		for _, failure := range []ratelimit.Failure{ratelimit.FailLocal, ratelimit.FailOpen, ratelimit.FailClosed} {
			_ = limiter.Guard("m", ratelimit.Rule{Key: "k", Limit: hourly, Fail: failure}).Allow(t.Context())
		}
		slots := ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 1, Period: time.Minute}
		_, err := limiter.Guard("slots", ratelimit.Rule{Key: "s", Limit: slots, Fail: ratelimit.FailClosed}).Begin(t.Context())
		if err == nil {
			t.Error("a slot of a store that is down")
		}
		synctest.Wait() // it is given back, lest the store has given it after all
		for _, server := range []string{"a", "b", "a", "c"} {
			store.report(server, true, errDown)
		}
		store.report("b", false, nil)
		for _, e := range []ratelimit.Event{{}, {Gone: true}, {Err: &ratelimit.OverridesError{Err: errDown}}, {Err: errDown}} {
			e.Kind = ratelimit.EventOverrides
			metrics.Observe(t.Context(), &e)
		}
		check(t, metrics, `
			# HELP ratelimit_outages Servers of stores that are away.
			# TYPE ratelimit_outages gauge
			ratelimit_outages 2
			# HELP ratelimit_overrides_total How often overrides were taken, gone, refused, or failed to be read.
			# TYPE ratelimit_overrides_total counter
			ratelimit_overrides_total{outcome="failed"} 1
			ratelimit_overrides_total{outcome="gone"} 1
			ratelimit_overrides_total{outcome="refused"} 1
			ratelimit_overrides_total{outcome="taken"} 1
			# HELP ratelimit_store_errors_total Calls that the store could not decide, by what became of them.
			# TYPE ratelimit_store_errors_total counter
			ratelimit_store_errors_total{failure="closed",method="m"} 1
			ratelimit_store_errors_total{failure="closed",method="slots"} 1
			ratelimit_store_errors_total{failure="local",method="m"} 1
			ratelimit_store_errors_total{failure="open",method="m"} 1
			# HELP ratelimit_troubles_total Leases that were lost, and what could not be given back.
			# TYPE ratelimit_troubles_total counter
			ratelimit_troubles_total{method="slots"} 1
		`)
	})
}

// P10: keys are no labels: an attack makes no new series, neither by callers that are refused nor by others.
func TestSeriesDoNotGrowWithKeys(t *testing.T) {
	metrics := promlimit.New()
	limiter := newLimiter(t, memlimit.New(), ratelimit.Observe(metrics))
	guard := limiter.Guard("m", ratelimit.Rule{Key: "k:{@user}", Limit: hourly})
	series := func(from, to int) int {
		for i := from; i < to; i++ {
			ctx := ratelimit.WithCaller(t.Context(), "user", fmt.Sprint(i))
			_, _ = guard.Allow(ctx), guard.Allow(ctx)
		}
		return testutil.CollectAndCount(metrics)
	}
	keys := 100_000
	if testing.Short() {
		keys = 10_000
	}
	few, many := series(0, 1), series(1, keys)
	if few != many {
		t.Errorf("%d series of 1 key, %d of %d", few, many, keys)
	}
	check(t, metrics, fmt.Sprintf(`
		# HELP ratelimit_decisions_total What limits answered to calls.
		# TYPE ratelimit_decisions_total counter
		ratelimit_decisions_total{limit="1h",method="m",outcome="allowed"} %d
		ratelimit_decisions_total{limit="1h",method="m",outcome="refused"} %[1]d
	`, keys))
}

// Two Collectors can be told apart by a label of the registry's.
func TestOneCollectorForEachLimiter(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	for _, name := range []string{"api", "jobs"} {
		metrics := promlimit.New()
		prometheus.WrapRegistererWith(prometheus.Labels{"limiter": name}, registry).MustRegister(metrics)
		limiter := newLimiter(t, memlimit.New(), ratelimit.Observe(metrics))
		if err := limiter.Guard("m", ratelimit.Rule{Key: "k", Limit: hourly}).Allow(t.Context()); err != nil {
			t.Error(err)
		}
	}
	const want = `
		# HELP ratelimit_decisions_total What limits answered to calls.
		# TYPE ratelimit_decisions_total counter
		ratelimit_decisions_total{limit="1h",limiter="api",method="m",outcome="allowed"} 1
		ratelimit_decisions_total{limit="1h",limiter="jobs",method="m",outcome="allowed"} 1
	`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "ratelimit_decisions_total"); err != nil {
		t.Error(err)
	}
}

// BenchmarkObserve models what a call of a method with one limit pays for its metrics.
func BenchmarkObserve(b *testing.B) {
	metrics := promlimit.New()
	event := ratelimit.Event{
		Kind: ratelimit.EventDecision, Method: "users.Service.Get", Took: time.Millisecond,
		Outcomes: []ratelimit.Outcome{{Name: "1s", Limit: hourly, Result: ratelimit.Result{Allowed: true}}},
	}
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		metrics.Observe(ctx, &event)
	}
	if n := testutil.CollectAndCount(metrics, "ratelimit_decisions_total"); n != 1 {
		b.Errorf("%d series, want 1", n)
	}
}

func TestRefusalWithoutAKeyHasNoDuration(t *testing.T) {
	metrics := promlimit.New()
	limiter := newLimiter(t, memlimit.New(), ratelimit.Observe(metrics))
	get := limiter.Guard("users.Service.Get", ratelimit.Rule{Key: "get:{@user}", Limit: hourly})
	if err := get.Allow(t.Context()); !errors.Is(err, ratelimit.ErrLimited) {
		t.Fatal(err)
	}
	if n := testutil.CollectAndCount(metrics, "ratelimit_decisions_total"); n != 1 {
		t.Errorf("%d series of decisions, want one", n)
	}
	if n := testutil.CollectAndCount(metrics, "ratelimit_decision_duration_seconds"); n != 0 {
		t.Errorf("%d series of durations, want none", n)
	}
}
