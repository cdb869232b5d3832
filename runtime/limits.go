package ratelimit

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// LimitInfo is one limit of a [Limiter], and how it holds.
type LimitInfo struct {
	ID     string // that of [LimitID], e.g. "users.Service.Get#1s"
	Method string
	Name   string
	Rule   Rule // as the [Guard] was made with it
	Holds  Rule // as it holds for callers whom no override names, the Limiter's mode included

	// Callers is how many entries of [Override.Callers] the limit has, by which something else may hold for some callers.
	Callers int
}

// LimitID returns the id of a method's limit, e.g. "users.Service.Get#1s".
func LimitID(method, name string) string { return method + "#" + name }

// limits are those that the guards of a Limiter were made with.
type limits struct {
	mu sync.Mutex
	of map[string]knownLimit // by ID
}

type knownLimit struct {
	LimitInfo
	base *rule
}

// add replaces what was known of the same limits: a guard may be made again.
func (ls *limits) add(method string, rules []Rule, compiled []rule) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.of == nil {
		ls.of = map[string]knownLimit{}
	}
	for i := range compiled {
		name := compiled[i].Name
		info := LimitInfo{ID: LimitID(method, name), Method: method, Name: name, Rule: rules[i]}
		ls.of[info.ID] = knownLimit{info, &compiled[i]}
	}
}

// sorted returns the limits by their ids in order.
func (ls *limits) sorted() []knownLimit {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return slices.SortedFunc(maps.Values(ls.of), func(a, b knownLimit) int { return cmp.Compare(a.ID, b.ID) })
}

// Mode returns that of the whole Limiter as it is now: of [WithMode], or as [Overrides] say. No limit holds more strictly. Of a
// nil Limiter it is [ModeEnforce]. It is safe for concurrent use.
func (l *Limiter) Mode() Mode {
	if l == nil {
		return ModeEnforce
	}
	return l.overriding.mode()
}

// Limits returns the limits of all guards that were made of the Limiter, by their ids in order. A guard that is made again,
// of the same method, replaces the former one here; one that was dropped is still there. Those of [Limiter.Allow] are not:
// they come with each call. It is safe for concurrent use.
func (l *Limiter) Limits() []LimitInfo {
	if l == nil {
		return nil
	}
	known := l.limits.sorted()
	infos := make([]LimitInfo, len(known))
	t := l.overriding.table.Load()
	for i, k := range known {
		infos[i] = k.LimitInfo
		infos[i].Holds = l.holds(k, t)
		if t != nil {
			o, _ := t.of(k.ID, k.base) // the error was told when the overrides were taken
			infos[i].Callers = len(o.Callers)
		}
	}
	return infos
}
