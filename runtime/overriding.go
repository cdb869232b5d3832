package ratelimit

import (
	"context"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// overrideTable are the overrides of a Limiter from everywhere. It is not changed once it is made.
type overrideTable struct {
	mode   Mode // of the whole Limiter
	limits map[string]*Override
	wrong  map[string]error // why limits that share buckets have the numbers of their directives
	by     func(ctx context.Context, limit string) (Override, bool)
}

// overriding is where the overrides of a Limiter come from.
type overriding struct {
	limiter *Limiter
	table   atomic.Pointer[overrideTable] // nil as long as nothing is overridden
	by      func(ctx context.Context, limit string) (Override, bool)
	wrongs  sync.Map // when of a limit was told what by returned, by id, each a *throttle

	mu      sync.Mutex
	watches []*watch   // in the order in which they began
	own     *Overrides // by hand
	closed  bool
	running sync.WaitGroup // of watches
}

// OverrideBy has f asked at each call how each of its limits holds for the caller, as the context tells: e.g. more for
// premium users. What it returns goes before all other overrides, field by field; its Callers are not looked at. With false,
// or the zero Override, these hold.
//
// F is called once for each limit of a call, in the goroutine of the call and before the store is asked, by several goroutines at
// once. It must not block nor panic, and should not allocate. It should return few different values: a limit keeps 256
// that were asked for ready, and prepares others anew, which takes some microseconds. What a limit cannot have is not
// done, and told by an [Event] of [EventOverrides] once a minute at most for each limit. [Limiter.Allow] has no limits that it
// could ask for.
//
// Calls that share a bucket must get the same Period for it, since by the shorter one what others have used is over too early,
// and of TokenBucket the same Count, by which the bucket is refilled for all of them. Whose bucket it is that f is asked about
// only f can know.
func OverrideBy(f func(ctx context.Context, limit string) (Override, bool)) Option {
	return optionFunc(func(l *Limiter) error {
		if f == nil {
			return errors.New("ratelimit: OverrideBy(nil): want a function")
		}
		l.overriding.by = f
		return nil
	})
}

// Override has overrides that the program gives hold from now on, in place of the last ones that it gave. Limit by limit, they
// go before what a source says of a limit, see [Limiter.Watch]; an empty [Override] is the directive. Nil takes back what
// was given.
//
// The error says all that is wrong, each with the limit's id, and then nothing has changed: values that no limit can have,
// and those that one of the limits of [Limiter.Limits] cannot have, see [Limiter.CheckOverrides].
func (l *Limiter) Override(o *Overrides) error {
	if err := l.CheckOverrides(o); err != nil {
		return err
	}
	ov := &l.overriding
	ov.mu.Lock()
	ov.own = o
	ov.merge()
	ov.mu.Unlock()
	l.tell(context.Background(), &Event{Kind: EventOverrides})
	return nil
}

// CheckOverrides returns all that is wrong about overrides for the limits that the Limiter has now, as [Limiter.Override]
// does, or nil. A limit that is made later and cannot have what is said about it, for one that shares its buckets or for itself,
// has the Count, Period and Burst of its directive for all callers, as all have that share its buckets, which is told by an
// [Event] of [EventOverrides] when it is made; Mode and Fail hold. So overrides are best given once the decorators are there.
func (l *Limiter) CheckOverrides(o *Overrides) error {
	if l == nil || l.store == nil {
		return errNoStore
	}
	if o == nil {
		return nil
	}
	if err := o.check(); err != nil {
		return err
	}
	return l.checkLimits(o, nil)
}

// wrong tells now and then of a limit that the function returns what it cannot have: that may be another value at each call.
func (o *overriding) wrong(ctx context.Context, id string, err error) {
	told, ok := o.wrongs.Load(id)
	if !ok {
		told, _ = o.wrongs.LoadOrStore(id, &throttle{})
	}
	if told.(*throttle).isDue(time.Now()) {
		o.limiter.tell(ctx, &Event{Kind: EventOverrides, Err: err})
	}
}

// merge makes the table anew. The lock is held.
func (o *overriding) merge() {
	defer o.recall(o.table.Load())
	t := &overrideTable{mode: o.limiter.mode, limits: map[string]*Override{}, wrong: map[string]error{}, by: o.by}
	changes := t.by != nil
	sources := append(o.sources(), o.own)
	for _, overrides := range sources {
		if overrides == nil {
			continue
		}
		if overrides.Mode != nil {
			t.mode = *overrides.Mode
		}
		maps.Copy(t.limits, overrides.Limits)
		changes = changes || overrides.Mode != nil || len(overrides.Limits) > 0
	}
	if !changes {
		o.table.Store(nil)
		return
	}
	t.share(&o.limiter.limits, sources)
	o.table.Store(t)
}

// mergeAgain makes the table anew if there is one, for a limit that shares its buckets with others.
func (o *overriding) mergeAgain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.table.Load() != nil {
		o.merge()
	}
}

// sources returns what the sources say, in the order in which one goes before the other.
func (o *overriding) sources() []*Overrides {
	all := make([]*Overrides, len(o.watches))
	for i, w := range o.watches {
		all[i] = w.taken
	}
	return all
}

// mode returns that of the whole Limiter for a call that begins now.
func (o *overriding) mode() Mode {
	if t := o.table.Load(); t != nil {
		return t.mode
	}
	return o.limiter.mode
}

// of returns what overrides a limit. If there is an error, of what it cannot have, that is what is none of its numbers: one that
// was switched off does not refuse since another cannot have its count.
func (t *overrideTable) of(k knownLimit) (*Override, error) {
	o, err := t.limits[k.ID], t.wrong[k.ID]
	if o == nil {
		return &Override{}, err
	}
	if err == nil {
		err = o.checkFor(k, sharers{k}) // those that share are checked
	}
	if err != nil {
		return o.withoutNumbers(), err
	}
	return o, nil
}

// holds returns how a limit holds under a table, which may be nil, for callers whom no override names.
func (l *Limiter) holds(k knownLimit, t *overrideTable) Rule {
	c := &choice{base: k.base, least: l.mode}
	if t != nil {
		o, _ := t.of(k) // the error was told when the overrides were taken
		c.least, c.own = t.mode, o.change()
	}
	plain := c.with(c.own)
	r := k.Rule
	r.Limit, r.Mode, r.Fail, r.Prefetch = plain.Limit, plain.Mode, plain.Fail, plain.Prefetch
	return r
}
