package ratelimit

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// LocalOverrides is an [OverrideStore] in the memory of a process. Make one by [NewOverrides]. Limiters that watch it are told
// at once: what is set holds for each call that begins after Set has returned. It is safe for concurrent use.
type LocalOverrides struct {
	now      atomic.Pointer[Overrides]
	mu       sync.Mutex // for changes
	watchers []*watch
}

var _ OverrideStore = (*LocalOverrides)(nil)

// NewOverrides returns a LocalOverrides that says nothing yet.
func NewOverrides() *LocalOverrides {
	o := &LocalOverrides{}
	o.now.Store(&Overrides{})
	return o
}

// Load implements [OverrideSource]. It never fails.
func (o *LocalOverrides) Load(context.Context) (*Overrides, error) { return o.now.Load(), nil }

// Set implements [OverrideStore]. It keeps a copy. Its error may also be that of a Limiter that watches, see [Limiter.CheckOverrides]; nothing
// has changed then.
func (o *LocalOverrides) Set(_ context.Context, limit string, override *Override) error {
	return o.change(func(next *Overrides) {
		if override == nil {
			delete(next.Limits, limit)
			return
		}
		next.Limits[limit] = override.clone()
	})
}

// SetMode implements [OverrideStore].
func (o *LocalOverrides) SetMode(_ context.Context, m *Mode) error {
	return o.change(func(next *Overrides) { next.Mode = cloneMode(m) })
}

// clone returns a copy that shares nothing with the original.
func (o *Override) clone() *Override {
	c := *o
	c.Mode, c.Callers = cloneMode(o.Mode), slices.Clone(o.Callers)
	for i := range c.Callers {
		c.Callers[i].By, c.Callers[i].Mode = maps.Clone(c.Callers[i].By), cloneMode(c.Callers[i].Mode)
	}
	return &c
}

func cloneMode(m *Mode) *Mode {
	if m == nil {
		return nil
	}
	return new(*m)
}

// change has the Limiters that watch take what is changed, or none of them.
func (o *LocalOverrides) change(do func(next *Overrides)) error {
	watchers, err := o.put(do)
	for _, w := range watchers {
		w.limiter.tell(context.Background(), &Event{Kind: EventOverrides})
	}
	return err
}

// put returns the watches of the Limiters that have taken what is changed.
func (o *LocalOverrides) put(do func(next *Overrides)) ([]*watch, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.now.Load()
	next := &Overrides{Mode: now.Mode, Limits: maps.Clone(now.Limits)}
	if next.Limits == nil {
		next.Limits = map[string]*Override{}
	}
	do(next)
	if err := next.check(); err != nil {
		return nil, err
	}
	for _, w := range o.watchers {
		if err := w.limiter.checkLimits(next, w.has()); err != nil {
			return nil, err
		}
	}
	o.now.Store(next)
	for _, w := range o.watchers {
		w.set(next)
	}
	return slices.Clone(o.watchers), nil
}

// attach has a Limiter take what is set, until ctx ends.
func (o *LocalOverrides) attach(ctx context.Context, w *watch) error {
	o.mu.Lock()
	o.watchers = append(o.watchers, w)
	changed, gone, err := w.take(o.now.Load())
	o.mu.Unlock()
	context.AfterFunc(ctx, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.watchers = slices.DeleteFunc(o.watchers, func(other *watch) bool { return other == w })
		w.end()
	})
	w.tell(changed, gone, err)
	return err
}
