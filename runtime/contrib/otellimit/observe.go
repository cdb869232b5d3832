package otellimit

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// Observe implements [ratelimit.Observer].
func (o *Observer) Observe(ctx context.Context, e *ratelimit.Event) {
	switch e.Kind {
	case ratelimit.EventDecision, ratelimit.EventShadow:
		o.decision(ctx, e)
	case ratelimit.EventStoreError:
		failure := failureKey.String(string(e.Failure))
		o.storeErrors.Add(ctx, 1, metric.WithAttributes(methodKey.String(e.Method), failure))
		if span := trace.SpanFromContext(ctx); span.IsRecording() {
			span.AddEvent("ratelimit.store_error", trace.WithAttributes(methodKey.String(e.Method), failure, errorTypeKey.String(errorType(e.Err))))
		}
	case ratelimit.EventTrouble:
		o.troubles.Add(ctx, 1, metric.WithAttributes(methodKey.String(e.Method)))
	case ratelimit.EventOutage:
		o.outage(ctx, e.Server, e.Away)
	case ratelimit.EventOverrides:
		o.overrides.Add(ctx, 1, metric.WithAttributes(outcomeKey.String(ofOverrides(e))))
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

func (o *Observer) decision(ctx context.Context, e *ratelimit.Event) {
	if e.Took > 0 { // or no store was asked, for want of a key
		o.duration.Record(ctx, e.Took.Seconds(), o.seriesOf(labels{method: e.Method}).record...)
	}
	for i := range e.Outcomes {
		out := &e.Outcomes[i]
		l := labels{e.Method, out.Name, outcome(out)}
		o.decisions.Add(ctx, 1, o.seriesOf(l).add...)
		if out.Result.Allowed {
			continue
		}
		if span := trace.SpanFromContext(ctx); span.IsRecording() {
			attrs := l.attributes()
			if after := out.Result.RetryAfter; after != ratelimit.Never {
				attrs = append(attrs, retryAfterKey.Float64(after.Seconds()))
			}
			span.AddEvent("ratelimit.refused", trace.WithAttributes(attrs...))
		}
	}
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

// errorType returns what is wrong in one word, as the error tells it, or else its type. Its text may have keys in it.
func errorType(err error) string {
	if typed, ok := errors.AsType[interface {
		error
		ErrorType() string
	}](err); ok {
		return typed.ErrorType()
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return fmt.Sprintf("%T", err)
		}
		err = inner
	}
}

// outage counts servers by their names, since each Limiter of a store tells of all of them.
func (o *Observer) outage(ctx context.Context, server string, away bool) {
	o.mu.Lock()
	_, was := o.away[server]
	if away {
		o.away[server] = struct{}{}
	} else {
		delete(o.away, server)
	}
	o.mu.Unlock()
	change := int64(1)
	if was == away {
		return
	}
	if was {
		change = -1
	}
	o.outages.Add(ctx, change, metric.WithAttributes(serverAttributes(server)...))
}

// serverAttributes returns host and port apart, where the store tells both of one server.
func serverAttributes(server string) []attribute.KeyValue {
	host, port, err := net.SplitHostPort(server)
	if err == nil {
		if n, err := strconv.ParseUint(port, 10, 16); err == nil {
			return []attribute.KeyValue{serverKey.String(host), portKey.Int64(int64(n))}
		}
	}
	return []attribute.KeyValue{serverKey.String(server)}
}

// labels tell the series of a decision apart; those of the duration have the method only.
type labels struct{ method, limit, outcome string }

func (l labels) attributes() []attribute.KeyValue {
	attrs := []attribute.KeyValue{methodKey.String(l.method)}
	if l.outcome != "" {
		attrs = append(attrs, limitKey.String(l.limit), outcomeKey.String(l.outcome))
	}
	return attrs
}

// series are labels made ready, so that a call that is observed allocates nothing.
type series struct {
	add    []metric.AddOption
	record []metric.RecordOption
}

func (o *Observer) seriesOf(l labels) series {
	o.mu.RLock()
	s, ok := o.series[l]
	o.mu.RUnlock()
	if ok {
		return s
	}
	option := metric.WithAttributeSet(attribute.NewSet(l.attributes()...))
	s = series{add: []metric.AddOption{option}, record: []metric.RecordOption{option}}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.series[l] = s
	return s
}
