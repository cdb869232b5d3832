package ratelimit

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// Log returns an [Observer] that writes to logger, or to the [slog.Default] of the moment if that is nil:
//
//   - a refusal, as information, at most once per key and period of its limit, or hour if that is less, and once a second; with
//     shadow=true if the limit only looks on. Of more than ten thousand keys of a limit at a time the further ones are only counted,
//     and that is written once a minute. Where many limits refuse so many, each has fewer, and the first leave room to the others;
//   - what fails the store while calls go on, and what could not be given back, as warnings, once a minute for each method, and
//     not while the store is known to be away, nor in the minute after that. An error that callers are given is not written;
//   - each lease that is lost, as a warning;
//   - that the store, or a server of it, is away, as a warning, or back, or has left the others;
//   - that overrides were taken; that they are gone, are refused, or could not be read, as warnings.
//
// Keys are written as they are, escaped: they may hold addresses and names of callers.
func Log(logger *slog.Logger) Observer { return newLog(logger, true) }

// newLog returns a log that writes refusals, or all but those.
func newLog(logger *slog.Logger, refusals bool) *log {
	l := &log{logger: logger}
	if refusals {
		l.refusals = newRefusals()
	}
	return l
}

// log implements [Log].
type log struct {
	logger   *slog.Logger
	refusals *refusals // those that were written; nil if none are

	mu      sync.Mutex
	methods map[string]*throttle // of their troubles
}

var _ Observer = (*log)(nil)

// Observe implements [Observer].
func (l *log) Observe(ctx context.Context, e *Event) {
	switch e.Kind {
	case EventDecision, EventShadow:
		if l.refusals != nil && !e.Allowed() {
			l.refusal(ctx, e)
		}
	case EventStoreError:
		if e.Failure != FailClosed { // or the caller is told
			l.trouble(ctx, e)
		}
	case EventTrouble:
		l.trouble(ctx, e)
	case EventOutage:
		l.outage(ctx, e)
	case EventOverrides:
		l.ofOverrides(ctx, e)
	}
}

func (l *log) outage(ctx context.Context, e *Event) {
	server := slog.String("server", e.Server)
	switch {
	case e.Away:
		l.write(ctx, slog.LevelWarn, "rate limit: the store is away", server, slog.Any("error", e.Err))
	case e.Err != nil:
		l.write(ctx, slog.LevelInfo, "rate limit: the store goes on without a server", server, slog.Any("error", e.Err))
	default:
		l.write(ctx, slog.LevelInfo, "rate limit: the store is back", server)
	}
}

func (l *log) ofOverrides(ctx context.Context, e *Event) {
	switch {
	case e.Gone:
		l.write(ctx, slog.LevelWarn, "rate limit: overrides are gone")
	case e.Err == nil:
		l.write(ctx, slog.LevelInfo, "rate limit: overrides taken")
	case isOfOverrides(e.Err):
		l.write(ctx, slog.LevelWarn, "rate limit: overrides refused", slog.Any("error", e.Err))
	default:
		l.write(ctx, slog.LevelWarn, "rate limit: overrides not read", slog.Any("error", e.Err))
	}
}

func (l *log) write(ctx context.Context, level slog.Level, message string, attrs ...slog.Attr) {
	l.to().LogAttrs(ctx, level, message, attrs...)
}

func (l *log) to() *slog.Logger {
	if l.logger == nil {
		return slog.Default()
	}
	return l.logger
}

// refusal writes each refusal of an event that is news.
func (l *log) refusal(ctx context.Context, e *Event) {
	if !l.to().Enabled(ctx, slog.LevelInfo) {
		return
	}
	for i := range e.Outcomes {
		o := &e.Outcomes[i]
		if o.Result.Allowed {
			continue
		}
		news, unwritten := l.refusals.note(e.Method, o.Name, e.Key(i), o.Limit.Period)
		if unwritten > 0 {
			l.write(ctx, slog.LevelInfo, "rate limit exceeded by more keys than are told apart", slog.Int64("refusals", unwritten))
		}
		if !news {
			continue
		}
		attrs := []slog.Attr{
			slog.String("method", e.Method), slog.String("limit", o.Name), slog.String("key", string(e.Key(i))),
		}
		if o.Result.RetryAfter != Never {
			attrs = append(attrs, slog.Duration("retry_after", o.Result.RetryAfter))
		}
		if o.Shadow {
			attrs = append(attrs, slog.Bool("shadow", true))
		}
		l.write(ctx, slog.LevelInfo, "rate limit exceeded", attrs...)
	}
}

func (l *log) trouble(ctx context.Context, e *Event) {
	if errors.Is(e.Err, ErrLeaseLost) || l.method(e.Method).isNews(isAway(e.Err), time.Now()) {
		l.write(ctx, slog.LevelWarn, "rate limit", slog.String("method", e.Method), slog.Any("error", e.Err))
	}
}

// maxLogMethods is how many methods a log keeps apart. It is for programs that make up methods as they go: all others have theirs
// in their code.
const maxLogMethods = 1000

// method returns when the troubles of a method were told.
func (l *log) method(name string) *throttle {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.methods[name]
	if t == nil {
		if l.methods == nil || len(l.methods) == maxLogMethods {
			l.methods = map[string]*throttle{}
		}
		t = &throttle{}
		l.methods[name] = t
	}
	return t
}
