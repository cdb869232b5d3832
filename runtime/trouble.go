package ratelimit

import (
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// quiet is how long nothing more is told of the calls of a method: what fails one of them fails them all.
const quiet = time.Minute

// troubles are what befalls the calls of one method that go on, or are over, all the same.
type troubles struct {
	report func(method string, err error)
	method string

	mu   sync.Mutex
	told time.Time // when the last one was, or might have been
}

// tell reports an error, unless one has been told of just now, or the store has, by itself.
func (t *troubles) tell(err error) {
	if t.isNews(isAway(err), time.Now()) {
		t.report(t.method, err)
	}
}

// isNews counts an outage as told, so that the call that finds out now and then that it lasts is no news either.
func (t *troubles) isNews(away bool, now time.Time) bool {
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
		for _, part := range e.Unwrap() {
			if !isAway(part) {
				return false
			}
		}
		return true
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
