package dashboard

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// figure is what a tally counts.
type figure uint8

const (
	calls    figure = iota // that were decided: of a method by the limits that hold
	refused                // that did not go on for it
	shadowed               // of a method, that were decided by the limits that look on
	lookedOn               // of a limit, that it would have refused
	failed                 // of a method, that the store could not decide

	figures = 8 // so that they fill a cache line
)

const (
	// stripes are cache lines that calls of one limit are counted in, so that processors do not wait for each other.
	stripes = 8
	// maxMethods and maxLimits, of a method, bound the memory, should a program make up names as it runs. What goes
	// beyond is counted with others of the same.
	maxMethods = 1000
	maxLimits  = 64
	others     = "(others)"
)

// tally counts since the start. The zero value is ready, and safe for concurrent use.
type tally [stripes][figures]atomic.Uint64

// sums are the figures of a tally.
type sums [figures]uint64

func (t *tally) add(stripe uint32, f figure) { t[stripe][f].Add(1) }

func (t *tally) sums() (s sums) {
	for i := range t {
		for f := range t[i] {
			s[f] += t[i][f].Load()
		}
	}
	return s
}

// anyStripe spreads calls over the stripes without asking which processor this is.
func anyStripe() uint32 { return rand.Uint32() % stripes } //nolint:gosec // nothing is to be kept secret by it

// method counts the calls of one method, and of the limits that were seen to decide them.
type method struct {
	tally
	name   string
	limits atomic.Pointer[[]*limit]
}

// limit counts the calls that one limit decided.
type limit struct {
	tally
	id, name string
	kind     ratelimit.Limit // when it was first seen, for those that no Limiter tells of
}

// books finds the counters of a method or limit. Reading takes no lock, as all are soon known.
type books struct {
	mu      sync.Mutex // of adding
	methods atomic.Pointer[map[string]*method]
}

// method returns the counters of a method.
func (b *books) method(name string) *method {
	if known := b.methods.Load(); known != nil {
		if m := (*known)[name]; m != nil {
			return m
		}
	}
	return b.addMethod(name)
}

func (b *books) addMethod(name string) *method {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := map[string]*method{}
	if p := b.methods.Load(); p != nil {
		known = *p
	}
	if len(known) >= maxMethods && known[name] == nil {
		name = others
	}
	if m := known[name]; m != nil {
		return m
	}
	m := &method{name: name}
	m.limits.Store(new([]*limit))
	more := maps.Clone(known)
	more[name] = m
	b.methods.Store(&more)
	return m
}

// limit returns the counters of a limit of m.
func (b *books) limit(m *method, o *ratelimit.Outcome) *limit {
	for _, l := range *m.limits.Load() { // a few
		if l.name == o.Name {
			return l
		}
	}
	return b.addLimit(m, o.Name, o.Limit)
}

func (b *books) addLimit(m *method, name string, kind ratelimit.Limit) *limit {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := *m.limits.Load()
	if len(known) >= maxLimits {
		name = others
	}
	for _, l := range known {
		if l.name == name {
			return l
		}
	}
	l := &limit{id: ratelimit.LimitID(m.name, name), name: name, kind: kind}
	more := append(slices.Clip(known), l)
	m.limits.Store(&more)
	return l
}

// sorted returns the methods that were seen, by their names in order.
func (b *books) sorted() []*method {
	return slices.SortedFunc(maps.Values(b.all()), func(a, c *method) int { return cmp.Compare(a.name, c.name) })
}

// all returns the methods that were seen.
func (b *books) all() map[string]*method {
	if known := b.methods.Load(); known != nil {
		return *known
	}
	return nil
}
