package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// watchInterval is how often a source of overrides is looked at: so that a change is seen within a second.
const watchInterval = 500 * time.Millisecond

// OverrideSource is where overrides come from: a file, see package overrides, or a hash in Redis, see package redislimit.
type OverrideSource interface {
	// Load returns what the source says now. An error says that it cannot be told, or, if it is an [*OverridesError], that
	// something is wrong with it: then what it said last holds. Once returned, Overrides are not changed; to return the same pointer says that nothing has changed. It is called by one
	// goroutine of a Limiter at a time, and should return when ctx ends.
	Load(ctx context.Context) (*Overrides, error)
}

// OverrideStore is an [OverrideSource] that can be edited, e.g. by the page of package dashboard.
type OverrideStore interface {
	OverrideSource
	// Set has o hold for the limit of that id, in place of what the store said about it. Nil deletes that. The error is that of
	// values that no limit can have, or of the store.
	Set(ctx context.Context, limit string, o *Override) error
	// SetMode sets the mode of the whole Limiter, or with nil deletes it.
	SetMode(ctx context.Context, m *Mode) error
}

// OverridesError says that overrides were read, and what is wrong with them: somebody has to mend them. Other errors of an
// [OverrideSource] may pass by themselves. It has the text of Err.
type OverridesError struct{ Err error }

// Error returns the text of Err.
func (e *OverridesError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *OverridesError) Unwrap() error { return e.Err }

// watch is a source that a Limiter looks at.
type watch struct {
	limiter *Limiter
	source  OverrideSource
	stop    context.CancelFunc
	taken   *Overrides // under the lock of overriding
	told    string     // the last error; empty if the last look found none
	failed  throttle   // of telling that it could not be loaded
}

var errClosed = errors.New("ratelimit: the Limiter is closed")

// Watch has what the source says hold, and looks twice a second whether it says something else, until ctx ends or
// [Limiter.Close]; what it said last then still holds. So ctx is that of the process, and not one that ends with its start. Of
// several sources, what a later one says of a limit goes before what an earlier one says of it, and likewise the mode of the
// whole Limiter.
//
// What a source says is taken as a whole, and not at all if something is wrong with it, see [Limiter.CheckOverrides], or if
// it cannot be loaded: then what it said last holds. Both are told by an [Event] of [EventOverrides]; the same error once, until
// all is well, and that it cannot be loaded once a minute at most. So is that a source, from which something was taken, says
// nothing any more, as it may have lost it.
//
// The first look is over when Watch returns. Its error is that of this look: nothing was taken yet, but the Limiter goes on
// looking, so that a program may start while its source is away.
func (l *Limiter) Watch(ctx context.Context, source OverrideSource) error {
	if l == nil || l.store == nil {
		return errNoStore
	}
	if source == nil {
		return errors.New("ratelimit: Watch(nil): want an OverrideSource")
	}
	ctx, stop := context.WithCancel(ctx)
	w := &watch{limiter: l, source: source, stop: stop}
	if !l.overriding.begin(w) {
		stop()
		return errClosed
	}
	if local, ok := source.(*LocalOverrides); ok {
		defer l.overriding.running.Done()
		return local.attach(ctx, w)
	}
	err := w.look(ctx)
	go w.run(ctx)
	return err
}

// begin reports whether the Limiter is open to another source, whose watch must then end by running.Done.
func (o *overriding) begin(w *watch) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return false
	}
	o.watches = append(o.watches, w)
	o.running.Add(1)
	return true
}

// close has all watches end, and keeps others from beginning.
func (o *overriding) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for _, w := range o.watches {
		w.stop()
	}
}

// wait waits until all watches have ended, or ctx does.
func (o *overriding) wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		o.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	timer := time.NewTimer(lastMoment) // in which a source that goes by its context ends
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-timer.C:
		return fmt.Errorf("ratelimit: a source of overrides is still looked at: %w", ctx.Err())
	}
}

func (w *watch) run(ctx context.Context) {
	defer w.limiter.overriding.running.Done()
	defer w.end()
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			_ = w.look(ctx) // which tells it
		case <-ctx.Done():
			return
		}
	}
}

// look takes what the source says now, and tells what comes of it.
func (w *watch) look(ctx context.Context) error {
	o, err := w.load(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var changed, gone bool
	if err == nil {
		changed, gone, err = w.take(o)
	}
	w.tell(changed, gone, err)
	return err
}

// load does not let a panic of the source through, which nobody could recover.
func (w *watch) load(ctx context.Context) (o *Overrides, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("ratelimit: a source of overrides panicked: %v", p)
		}
	}()
	o, err = w.source.Load(ctx)
	if err == nil && o == nil {
		err = &OverridesError{errors.New("ratelimit: a source of overrides returned nothing: want Overrides")}
	}
	return o, err
}

// take reports whether the Limiter has taken overrides that it has not had before, and whether those before were something and
// these are nothing.
func (w *watch) take(o *Overrides) (changed, gone bool, err error) {
	before := w.has()
	if o == before || before != nil && reflect.DeepEqual(o, before) {
		return false, false, nil
	}
	if err := o.check(); err != nil {
		return false, false, err
	}
	if err := w.limiter.checkLimits(o, before); err != nil {
		return false, false, err
	}
	w.set(o)
	return true, before.sayAnything() && !o.sayAnything(), nil
}

// has returns what the Limiter has taken of the source, or nil.
func (w *watch) has() *Overrides {
	ov := &w.limiter.overriding
	ov.mu.Lock()
	defer ov.mu.Unlock()
	return w.taken
}

// end ends the watch. The Limiter forgets it unless it has taken something, which goes on to hold.
func (w *watch) end() {
	w.stop()
	ov := &w.limiter.overriding
	ov.mu.Lock()
	defer ov.mu.Unlock()
	if w.taken == nil {
		ov.watches = slices.DeleteFunc(ov.watches, func(other *watch) bool { return other == w })
	}
}

// sayAnything reports whether there is an entry, be it empty.
func (o *Overrides) sayAnything() bool { return o != nil && (o.Mode != nil || len(o.Limits) > 0) }

// set has overrides hold that the Limiter can keep.
func (w *watch) set(o *Overrides) {
	ov := &w.limiter.overriding
	ov.mu.Lock()
	defer ov.mu.Unlock()
	w.taken = o
	ov.merge()
}

// tell tells the observers what came of a look, unless they know. That a source cannot be loaded may have another text at each
// look, as that of a connection from another port.
func (w *watch) tell(changed, gone bool, err error) {
	said := ""
	if err != nil {
		said = err.Error()
	}
	if isAway(err) { // which the source, or the store that it is beside, has told by itself
		return
	}
	if !changed && said == w.told {
		return
	}
	if err != nil && !isOfOverrides(err) && !w.failed.isDue(time.Now()) {
		return
	}
	w.told = said
	w.limiter.tell(context.Background(), &Event{Kind: EventOverrides, Err: err, Gone: gone})
}

func isOfOverrides(err error) bool {
	_, ok := errors.AsType[*OverridesError](err)
	return ok
}
