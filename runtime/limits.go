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

	sharing map[string]int // how many have the same buckets
}

type knownLimit struct {
	LimitInfo
	base    *rule
	buckets string // that of rule
}

// add replaces what was known of the same limits: a guard may be made again. It reports whether one of them shares buckets with
// others and was not known to do so.
func (ls *limits) add(method string, rules []Rule, compiled []rule) (shares bool) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.of == nil {
		ls.of, ls.sharing = map[string]knownLimit{}, map[string]int{}
	}
	for i := range compiled {
		name := compiled[i].Name
		info := LimitInfo{ID: LimitID(method, name), Method: method, Name: name, Rule: rules[i]}
		k := knownLimit{info, &compiled[i], compiled[i].buckets()}
		if old, known := ls.of[k.ID]; !known || old.buckets != k.buckets {
			if known {
				if ls.sharing[old.buckets]--; ls.sharing[old.buckets] == 0 {
					delete(ls.sharing, old.buckets)
				}
			}
			ls.sharing[k.buckets]++
			shares = shares || ls.sharing[k.buckets] > 1
		}
		ls.of[k.ID] = k
	}
	return shares
}

// bySharers returns the limits, those together that share buckets.
func (ls *limits) bySharers() []sharers {
	var all []sharers
	places := map[string]int{}
	for _, k := range ls.sorted() {
		place, ok := places[k.buckets]
		if !ok {
			place = len(all)
			places[k.buckets] = place
			all = append(all, nil)
		}
		all[place] = append(all[place], k)
	}
	return all
}

// buckets tell the buckets of rules apart, as far as calls do not: the values that they give may be equal.
func (r *rule) buckets() string {
	key := r.charge.Key
	for i := range r.parts {
		if p := &r.parts[i]; p.kind == literalPart {
			key = append(key, p.literal...)
		} else {
			key = append(key, "{}"...)
		}
	}
	return string(appendBucket(nil, &Charge{Key: key, Name: r.Name, Limit: r.Limit}))
}

// sorted returns the limits by their ids in order.
func (ls *limits) sorted() []knownLimit {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return slices.SortedFunc(maps.Values(ls.of), func(a, b knownLimit) int { return cmp.Compare(a.ID, b.ID) })
}

// Mode returns that of the whole Limiter as it is now: of [WithMode], or as [Overrides] say. No limit holds more strictly. Of a
// nil Limiter, and of the zero value, it is [ModeEnforce]. It is safe for concurrent use.
func (l *Limiter) Mode() Mode {
	if l == nil || l.store == nil {
		return ModeEnforce
	}
	return l.overriding.mode()
}

// Limits returns the limits of all guards that were made of the Limiter, by their ids in order. A guard that is made again,
// of the same method, replaces the former one here; one that was dropped is still there, so that the names of methods should come
// from the code and not from calls. Limits of [Limiter.Allow] are not here: they come with each call. It is safe for concurrent use.
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
			o, _ := t.of(k) // the error was told when the overrides were taken
			infos[i].Callers = len(o.Callers)
		}
	}
	return infos
}
