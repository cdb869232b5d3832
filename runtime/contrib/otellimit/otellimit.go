// Package otellimit gives OpenTelemetry the figures of rate limits, and the spans of calls what limits refused.
//
//	telemetry, err := otellimit.New()
//	limiter, err := ratelimit.New(store, ratelimit.Observe(telemetry))
//
// Attributes are the method, the limit and the outcome, which the code bounds, and never a key: an attack makes no new
// series.
package otellimit

import (
	"errors"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// scope names the package to OpenTelemetry.
const scope = "github.com/ratelimitgen/ratelimitgen/runtime/contrib/otellimit"

// The attributes, of metrics and of span events. Method is empty for [ratelimit.Limiter.Allow], where the limit is its period.
const (
	methodKey     = attribute.Key("ratelimit.method")
	limitKey      = attribute.Key("ratelimit.limit")
	outcomeKey    = attribute.Key("ratelimit.outcome")
	failureKey    = attribute.Key("ratelimit.failure")
	retryAfterKey = attribute.Key("ratelimit.retry_after") // seconds
	serverKey     = attribute.Key("server.address")
	portKey       = attribute.Key("server.port")
	errorTypeKey  = attribute.Key("error.type")
)

// durations reach from a decision in memory to a store that is far away and slow, in seconds.
var durations = []float64{1e-6, 1e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 0.1, 0.25, 1}

// Observer is a [ratelimit.Observer] that may observe several Limiters. It is safe for concurrent use. [New] makes it: the zero
// value is not usable. Its metrics are
//
//   - ratelimit.decisions, what each limit answered: a counter by method, limit and outcome, which is allowed or refused, or
//     shadow_allowed or shadow_refused where the limit only looks on. A call goes on if none of its limits refused it;
//   - ratelimit.decision.duration, how long the stores took: a histogram in seconds by method;
//   - ratelimit.store.errors, calls that the store could not decide: a counter by method and failure, which is what became of
//     them: local, open or closed;
//   - ratelimit.troubles, leases that were lost, and what could not be given back: a counter by method;
//   - ratelimit.outages, servers that are away now: 1 or 0 by server.address and server.port;
//   - ratelimit.overrides, how often overrides were taken; how often they were gone from where they had been, refused, as
//     something was wrong with them, or failed to be read, once a minute at most of each source: a counter by outcome.
//
// The span of a call, if it is recorded, has an event ratelimit.refused for each limit that refused it or would have, and an
// event ratelimit.store_error if the store could not decide it, whose error.type is what a method ErrorType of the error returns, as
// that of Redis does, or else its Go type; never the text, which names keys.
type Observer struct {
	decisions   metric.Int64Counter
	duration    metric.Float64Histogram
	storeErrors metric.Int64Counter
	troubles    metric.Int64Counter
	outages     metric.Int64UpDownCounter
	overrides   metric.Int64Counter

	mu     sync.RWMutex
	series map[labels]series
	away   map[string]struct{} // servers
}

var _ ratelimit.Observer = (*Observer)(nil)

// Option changes an [Observer] at its construction.
type Option interface{ apply(*config) }

type config struct{ meters metric.MeterProvider }

type optionFunc func(*config)

func (f optionFunc) apply(c *config) { f(c) }

// MeterProvider says where the metrics go. The default is [otel.GetMeterProvider].
func MeterProvider(p metric.MeterProvider) Option {
	return optionFunc(func(c *config) { c.meters = p })
}

// New returns an Observer, or the errors of the meter provider.
func New(opts ...Option) (*Observer, error) {
	c := config{meters: otel.GetMeterProvider()}
	for _, opt := range opts {
		opt.apply(&c)
	}
	meter := c.meters.Meter(scope)
	o := &Observer{series: map[labels]series{}, away: map[string]struct{}{}}
	var errs [6]error
	o.decisions, errs[0] = meter.Int64Counter("ratelimit.decisions",
		metric.WithDescription("What limits answered to calls."), metric.WithUnit("{decision}"))
	o.duration, errs[1] = meter.Float64Histogram("ratelimit.decision.duration",
		metric.WithDescription("How long stores took to decide a call."), metric.WithUnit("s"),
		metric.WithExplicitBucketBoundaries(durations...))
	o.storeErrors, errs[2] = meter.Int64Counter("ratelimit.store.errors",
		metric.WithDescription("Calls that the store could not decide, by what became of them."), metric.WithUnit("{call}"))
	o.troubles, errs[3] = meter.Int64Counter("ratelimit.troubles",
		metric.WithDescription("Leases that were lost, and what could not be given back."), metric.WithUnit("{trouble}"))
	o.outages, errs[4] = meter.Int64UpDownCounter("ratelimit.outages",
		metric.WithDescription("Servers of stores that are away."), metric.WithUnit("{server}"))
	o.overrides, errs[5] = meter.Int64Counter("ratelimit.overrides",
		metric.WithDescription("How often overrides were taken, gone, refused, or failed to be read."), metric.WithUnit("{change}"))
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	return o, nil
}
