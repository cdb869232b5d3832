package ratelimit

import (
	"container/heap"
	"hash/maphash"
	"sync"
	"time"
)

const (
	// maxRefusals is how many keys' refusals are remembered: some 500 kB.
	maxRefusals = 10_000
	// leastPause is how long at least the refusals of a key are not written again, whatever its period.
	leastPause = time.Second
)

// refusals remembers which refusals were told, each until it is to be told again.
type refusals struct {
	seed maphash.Seed
	base time.Time

	mu      sync.Mutex
	told    map[uint64]struct{} // by the hash of method, limit and key
	order   pauses              // of those that were told
	more    int64               // refusals that there was no room for
	moreDue throttle            // of telling how many
}

func newRefusals() *refusals {
	return &refusals{seed: maphash.MakeSeed(), base: time.Now(), told: map[uint64]struct{}{}}
}

// note reports whether a refusal is news. If there is no room to remember it, it is not, and is counted: now and then note
// returns how many were since it did so before.
func (r *refusals) note(method, limit string, key []byte, period time.Duration) (news bool, unwritten int64) {
	hash := r.hash(method, limit, key)
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	since := now.Sub(r.base)
	for len(r.order) > 0 && r.order[0].until <= since {
		delete(r.told, heap.Pop(&r.order).(pause).hash)
	}
	if _, told := r.told[hash]; told {
		return false, 0
	}
	if len(r.order) == maxRefusals {
		r.more++
		if !r.moreDue.isDue(now) {
			return false, 0
		}
		unwritten, r.more = r.more, 0
		return false, unwritten
	}
	r.told[hash] = struct{}{}
	heap.Push(&r.order, pause{until: since + max(period, leastPause), hash: hash})
	return true, 0
}

func (r *refusals) hash(method, limit string, key []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(r.seed)
	_, _ = h.WriteString(method)
	_ = h.WriteByte(0)
	_, _ = h.WriteString(limit)
	_ = h.WriteByte(0)
	_, _ = h.Write(key)
	return h.Sum64()
}

// pause is the time in which a refusal is not told again.
type pause struct {
	until time.Duration
	hash  uint64
}

// pauses orders by when they end. It implements [heap.Interface].
type pauses []pause

func (p pauses) Len() int           { return len(p) }
func (p pauses) Less(i, j int) bool { return p[i].until < p[j].until }
func (p pauses) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }

// Push implements [heap.Interface].
func (p *pauses) Push(x any) { *p = append(*p, x.(pause)) }

// Pop implements [heap.Interface].
func (p *pauses) Pop() any {
	last := len(*p) - 1
	x := (*p)[last]
	*p = (*p)[:last]
	return x
}
