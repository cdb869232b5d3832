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
	Holds  Rule // as it holds, the Limiter's mode included
}

// LimitID returns the id of a method's limit, e.g. "users.Service.Get#1s".
func LimitID(method, name string) string { return method + "#" + name }

// limits are those that the guards of a Limiter were made with.
type limits struct {
	mu sync.Mutex
	of map[string]LimitInfo // by ID
}

// add replaces what was known of the same limits: a guard may be made again.
func (ls *limits) add(infos []LimitInfo) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.of == nil {
		ls.of = map[string]LimitInfo{}
	}
	for _, info := range infos {
		ls.of[info.ID] = info
	}
}

// Limits returns the limits of all guards that were made of the Limiter, by their ids in order. A guard that is made again,
// of the same method, replaces the former one here; one that was dropped is still there. Those of [Limiter.Allow] are not:
// they come with each call. It is safe for concurrent use.
func (l *Limiter) Limits() []LimitInfo {
	if l == nil {
		return nil
	}
	l.limits.mu.Lock()
	defer l.limits.mu.Unlock()
	return slices.SortedFunc(maps.Values(l.limits.of), func(a, b LimitInfo) int { return cmp.Compare(a.ID, b.ID) })
}
