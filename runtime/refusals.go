package ratelimit

import (
	"container/heap"
	"hash/maphash"
	"sync"
	"time"
)

const (
	// maxRefusals is how many keys' refusals are remembered: about a megabyte. One limit has half of the room that the others
	// leave, so that a flood at one does not hide what others refuse: 10,000 keys, if it is the only one.
	maxRefusals = 20_000
	// leastPause and mostPause are how long the refusals of a key are not written again, whatever its period: those of a day
	// would hold the room for a day.
	leastPause, mostPause = time.Second, time.Hour
)

// refusals remembers which refusals were told, each until it is to be told again.
type refusals struct {
	seed maphash.Seed
	base time.Time

	mu      sync.Mutex
	told    map[uint64]struct{} // by the hash of method, limit and key
	order   pauses              // of those that were told
	shares  map[uint64]int      // how many of them are of a limit, by the hash of method and limit
	more    int64               // refusals that there was no room for
	moreDue throttle            // of telling how many
}

func newRefusals() *refusals {
	return &refusals{seed: maphash.MakeSeed(), base: time.Now(), told: map[uint64]struct{}{}, shares: map[uint64]int{}}
}

// note reports whether a refusal is news. If there is no room to remember it, it is not, and is counted: now and then note
// returns how many were since it did so before.
func (r *refusals) note(method, limit string, key []byte, period time.Duration) (news bool, unwritten int64) {
	of, hash := r.hash(method, limit, key)
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	since := now.Sub(r.base)
	for len(r.order) > 0 && r.order[0].until <= since {
		r.forget(heap.Pop(&r.order).(pause))
	}
	if _, told := r.told[hash]; told {
		return false, 0
	}
	if r.shares[of] >= maxRefusals-len(r.order) {
		r.more++
		if !r.moreDue.isDue(now) {
			return false, 0
		}
		unwritten, r.more = r.more, 0
		return false, unwritten
	}
	r.told[hash] = struct{}{}
	r.shares[of]++
	heap.Push(&r.order, pause{until: since + min(max(period, leastPause), mostPause), hash: hash, of: of})
	return true, 0
}

func (r *refusals) forget(p pause) {
	delete(r.told, p.hash)
	if r.shares[p.of]--; r.shares[p.of] == 0 {
		delete(r.shares, p.of)
	}
}

// hash returns that of a limit, and that of one of its keys.
func (r *refusals) hash(method, limit string, key []byte) (of, hash uint64) {
	var h maphash.Hash
	h.SetSeed(r.seed)
	_, _ = h.WriteString(method)
	_ = h.WriteByte(0)
	_, _ = h.WriteString(limit)
	of = h.Sum64()
	_ = h.WriteByte(0)
	_, _ = h.Write(key)
	return of, h.Sum64()
}

// pause is the time in which a refusal is not told again.
type pause struct {
	until time.Duration
	hash  uint64
	of    uint64 // the hash of its limit
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
