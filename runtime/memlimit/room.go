package memlimit

import (
	"container/heap"
	"slices"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// room bounds the entries of a shard and knows which of them is forgotten first.
type room struct {
	size   int      // the most entries
	places []*place // of each entry, by its index
	due    dueHeap
	queues [standings]place // each is a ring, from the least recently used place to the most and back
}

// place is what room knows of an entry.
type place struct {
	entry      int32
	expires    int64 // not later than when the entry expires, see room.touch
	at         int   // in the heap
	prev, next *place
}

// standing is how much harm it does to forget an entry before it expires. Those that do the least are forgotten first.
type standing uint8

const (
	spare     standing = iota // has something left
	limited                   // holds callers back
	held                      // has leases
	standings                 // how many there are
)

func newRoom(size int) *room {
	r := &room{size: size}
	for i := range r.queues {
		q := &r.queues[i]
		q.prev, q.next = q, q
	}
	return r
}

// rank makes the bucket the most recently used of its standing.
func (v *visit) rank() {
	if v.index >= 0 {
		v.shard.room.touch(v.index, v.standing(), v.shard.entries[v.index].expires)
	}
}

// standing returns how the bucket was left by the call.
func (v *visit) standing() standing {
	switch {
	case v.limit.algorithm == ratelimit.Concurrency && v.bucket.used > 0:
		return held
	case v.retry > 0 || v.bucket.used >= v.limit.capacity:
		return limited
	}
	return spare
}

// add makes a place for the entry that was added last.
func (r *room) add(expires int64) {
	p := &place{entry: int32(len(r.places)), expires: expires}
	p.prev, p.next = p, p
	r.places = append(r.places, p)
	heap.Push(&r.due, p)
}

// remove puts the last place in that of the i-th.
func (r *room) remove(i int) {
	p, last := r.places[i], len(r.places)-1
	p.unlink()
	heap.Remove(&r.due, p.at)
	r.places[i] = r.places[last]
	r.places[i].entry = int32(i)
	r.places[last] = nil
	r.places = r.places[:last]
}

// touch makes the i-th entry the most recently used of its standing. Its expiry is mostly later than before, and is not
// noted until the heap asks for it: a bucket that is in use does not move in the heap with each call.
func (r *room) touch(i int32, s standing, expires int64) {
	p, q := r.places[i], &r.queues[s]
	p.unlink()
	p.prev, p.next = q.prev, q
	p.prev.next, q.prev = p, p
	if expires < p.expires {
		r.reschedule(p, expires)
	}
}

// clip gives back the memory of a room that is nearly empty.
func (r *room) clip() {
	r.places = slices.Clone(r.places)
	r.due = slices.Clone(r.due)
}

func (r *room) reschedule(p *place, expires int64) {
	p.expires = expires
	heap.Fix(&r.due, p.at)
}

// first returns the place that may have expired, or nil if none has.
func (r *room) first(now int64) *place {
	if len(r.due) == 0 || r.due[0].expires > now {
		return nil
	}
	return r.due[0]
}

func (p *place) unlink() { p.prev.next, p.next.prev = p.next, p.prev }

// victim returns the entry to forget for a bucket of the given call: one that has expired, or the least recently used of
// those that do the least harm, but none of the call itself. There is always one: a call has no more charges than there is
// room for.
func (s *shard) victim(call []visit, now int64) (index int32, ok bool) {
	r := s.room
	for p := r.first(now); p != nil; p = r.first(now) {
		expires := s.entries[p.entry].expires
		if expires <= now {
			return p.entry, true
		}
		r.reschedule(p, expires)
	}
	for i := range r.queues {
		q := &r.queues[i]
		for p := q.next; p != q; p = p.next {
			if !s.inCall(call, p.entry) {
				return p.entry, true
			}
		}
	}
	return 0, false
}

// sweepDue removes those of the n entries that are due first that have expired.
func (s *shard) sweepDue(now int64, n int) {
	for range n {
		p := s.room.first(now)
		if p == nil {
			return
		}
		if expires := s.entries[p.entry].expires; expires > now {
			s.room.reschedule(p, expires)
		} else {
			s.remove(int(p.entry))
		}
	}
}

func (s *shard) inCall(call []visit, index int32) bool {
	for i := range call {
		if v := &call[i]; v.shard == s && v.index == index {
			return true
		}
	}
	return false
}

// dueHeap holds places, the one that expires first at its top. It is a [heap.Interface].
type dueHeap []*place

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].expires < h[j].expires }
func (h dueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

// Push implements [heap.Interface].
func (h *dueHeap) Push(x any) {
	p, _ := x.(*place)
	p.at = len(*h)
	*h = append(*h, p)
}

// Pop implements [heap.Interface].
func (h *dueHeap) Pop() any {
	last := len(*h) - 1
	p := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return p
}
