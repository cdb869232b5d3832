package ratelimit

import (
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// quiet is how long nothing more is told of the calls of a method: what fails one of them fails them all.
const quiet = time.Minute

// throttle lets one thing a minute be told.
type throttle struct {
	mu   sync.Mutex
	told time.Time // when the last one was, or might have been
}

// isDue reports whether something may be told now, which then counts as told.
func (t *throttle) isDue(now time.Time) bool { return t.isNews(false, now) }

// isNews counts an outage as told, so that the call that finds out now and then that it lasts is no news either.
func (t *throttle) isNews(away bool, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	due := t.told.IsZero() || now.Sub(t.told) >= quiet
	if due || away {
		t.told = now
	}
	return due && !away
}

// isAway reports whether an error says nothing but that a store was not asked, since it is known to be away, see [Store].
// Of an error that wraps another, the outer one knows better.
func isAway(err error) bool {
	switch e := err.(type) { //nolint:errorlint // a store says it of the error as a whole: errors.As finds it of a part
	case interface{ Away() bool }:
		return e.Away()
	case interface{ Unwrap() error }:
		return isAway(e.Unwrap())
	case interface{ Unwrap() []error }:
		parts := e.Unwrap()
		return len(parts) > 0 && !slices.ContainsFunc(parts, func(part error) bool { return !isAway(part) })
	}
	return false
}

// survive returns the error of do, or what it panics with. It is for what asks a store in a goroutine of the Limiter's: no
// caller could recover a panic there, e.g. of a hook of the store's client, and the process would end.
func survive(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("ratelimit: the store panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return do()
}
