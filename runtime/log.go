package ratelimit

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// maxLogMethods is how many methods a log keeps apart. Those beyond it have their troubles told as one.
const maxLogMethods = 1000

// Log returns an [Observer] that writes to logger what goes wrong, as warnings, and refusals, as information. If the logger is
// nil it is the [slog.Default] of the moment.
func Log(logger *slog.Logger) Observer { return newLog(logger, true) }

func newLog(logger *slog.Logger, refusals bool) *log {
	return &log{logger: logger, refusals: refusals, methods: map[string]*throttle{}}
}

// log implements [Log].
type log struct {
	logger   *slog.Logger
	refusals bool

	mu      sync.Mutex
	methods map[string]*throttle // of their troubles
}

var _ Observer = (*log)(nil)

// Observe implements [Observer].
func (l *log) Observe(ctx context.Context, e *Event) {
	switch e.Kind {
	case EventStoreError:
		if e.Failure != FailClosed { // or the caller is told
			l.trouble(ctx, e)
		}
	case EventTrouble:
		l.trouble(ctx, e)
	}
}

func (l *log) to() *slog.Logger {
	if l.logger == nil {
		return slog.Default()
	}
	return l.logger
}

func (l *log) trouble(ctx context.Context, e *Event) {
	if errors.Is(e.Err, ErrLeaseLost) || l.method(e.Method).isNews(isAway(e.Err), time.Now()) {
		l.to().LogAttrs(ctx, slog.LevelWarn, "rate limit", slog.String("method", e.Method), slog.Any("error", e.Err))
	}
}

func (l *log) method(name string) *throttle {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.methods[name]
	if t == nil {
		if len(l.methods) >= maxLogMethods {
			name = ""
			if t = l.methods[name]; t != nil {
				return t
			}
		}
		t = &throttle{}
		l.methods[name] = t
	}
	return t
}
