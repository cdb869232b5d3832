// Package promlimit gives Prometheus the figures of rate limits.
//
//	metrics := promlimit.New()
//	prometheus.MustRegister(metrics)
//	limiter, err := ratelimit.New(store, ratelimit.Observe(metrics))
//
// The labels are method, limit and outcome, which the code bounds, and never a key: an attack makes no new series.
package promlimit

import (
	"context"
	"errors"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// Collector counts what Limiters do. It is a [prometheus.Collector] and a [ratelimit.Observer], which may observe several
// Limiters, and is safe for concurrent use. [New] makes it: the zero value is not usable. Its metrics are
//
//   - ratelimit_decisions_total{method, limit, outcome}: what each limit answered: allowed or refused, or shadow_allowed or
//     shadow_refused where it only looks on. A call goes on if none of its limits refused it;
//   - ratelimit_decision_duration_seconds{method}: how long the stores took, a histogram, native where that is scraped. What limits
//     in shadow say of a call is another decision;
//   - ratelimit_store_errors_total{method, failure}: calls that the store could not decide, by what became of them: local, open
//     or closed;
//   - ratelimit_troubles_total{method}: leases that were lost, and what could not be given back;
//   - ratelimit_outages: servers that are away now, by their names: those of several Stores that have one name, as all that are
//     found by Sentinel, are one. A server that a Cluster or Ring goes on without is not counted for longer than some ten seconds;
//   - ratelimit_overrides_total{outcome}: how often overrides were taken; how often they were gone from where they had been,
//     refused, as something was wrong with them, or failed to be read, once a minute at most of each source.
//
// The method is empty for [ratelimit.Limiter.Allow], where the limit is its period. To tell Limiters apart, register a Collector
// for each with [prometheus.WrapRegistererWith].
type Collector struct {
	decisions   *prometheus.CounterVec
	durations   *prometheus.HistogramVec
	storeErrors *prometheus.CounterVec
	troubles    *prometheus.CounterVec
	outages     prometheus.Gauge
	overrides   *prometheus.CounterVec

	mu   sync.Mutex
	away map[string]struct{} // servers
}

var (
	_ prometheus.Collector = (*Collector)(nil)
	_ ratelimit.Observer   = (*Collector)(nil)
)

// durations reach from a decision in memory to a store that is far away and slow, in seconds.
var durations = []float64{1e-6, 1e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 0.1, 0.25, 1}

// nativeFactor is how much wider each bucket of the native histogram is than the one before, and nativeBuckets how many there are
// at most.
const (
	nativeFactor  = 1.1
	nativeBuckets = 100
)

// New returns a Collector that has counted nothing yet.
func New() *Collector {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	return &Collector{
		decisions: counter("ratelimit_decisions_total", "What limits answered to calls.", "method", "limit", "outcome"),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:                           "ratelimit_decision_duration_seconds",
			Help:                           "How long stores took to decide a call.",
			Buckets:                        durations,
			NativeHistogramBucketFactor:    nativeFactor,
			NativeHistogramMaxBucketNumber: nativeBuckets,
		}, []string{"method"}),
		storeErrors: counter("ratelimit_store_errors_total", "Calls that the store could not decide, by what became of them.", "method", "failure"),
		troubles:    counter("ratelimit_troubles_total", "Leases that were lost, and what could not be given back.", "method"),
		outages: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "ratelimit_outages", Help: "Servers of stores that are away.",
		}),
		overrides: counter("ratelimit_overrides_total", "How often overrides were taken, gone, refused, or failed to be read.", "outcome"),
		away:      map[string]struct{}{},
	}
}

// Observe implements [ratelimit.Observer].
func (c *Collector) Observe(_ context.Context, e *ratelimit.Event) {
	switch e.Kind {
	case ratelimit.EventDecision, ratelimit.EventShadow:
		for i := range e.Outcomes {
			o := &e.Outcomes[i]
			c.decisions.WithLabelValues(e.Method, o.Name, outcome(o)).Inc()
		}
		if e.Took > 0 { // or no store was asked, for want of a key
			c.durations.WithLabelValues(e.Method).Observe(e.Took.Seconds())
		}
	case ratelimit.EventStoreError:
		c.storeErrors.WithLabelValues(e.Method, string(e.Failure)).Inc()
	case ratelimit.EventTrouble:
		c.troubles.WithLabelValues(e.Method).Inc()
	case ratelimit.EventOutage:
		c.outage(e.Server, e.Away)
	case ratelimit.EventOverrides:
		c.overrides.WithLabelValues(ofOverrides(e)).Inc()
	}
}

func ofOverrides(e *ratelimit.Event) string {
	switch _, wrong := errors.AsType[*ratelimit.OverridesError](e.Err); {
	case wrong:
		return "refused"
	case e.Err != nil:
		return "failed"
	case e.Gone:
		return "gone"
	}
	return "taken"
}

func outcome(o *ratelimit.Outcome) string {
	switch {
	case o.Shadow && o.Result.Allowed:
		return "shadow_allowed"
	case o.Shadow:
		return "shadow_refused"
	case o.Result.Allowed:
		return "allowed"
	}
	return "refused"
}

// outage counts servers by their names, since each Limiter of a store tells of all of them.
func (c *Collector) outage(server string, away bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if away {
		c.away[server] = struct{}{}
	} else {
		delete(c.away, server)
	}
	c.outages.Set(float64(len(c.away)))
}

func (c *Collector) all() []prometheus.Collector {
	return []prometheus.Collector{c.decisions, c.durations, c.storeErrors, c.troubles, c.outages, c.overrides}
}

// Describe implements [prometheus.Collector].
func (c *Collector) Describe(descs chan<- *prometheus.Desc) {
	for _, metric := range c.all() {
		metric.Describe(descs)
	}
}

// Collect implements [prometheus.Collector].
func (c *Collector) Collect(metrics chan<- prometheus.Metric) {
	for _, metric := range c.all() {
		metric.Collect(metrics)
	}
}
