package memlimit

import ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"

// room bounds the records of a shard and knows which of them is forgotten first.
type room struct {
	size   int        // the most records
	due    array[ref] // a binary heap: no record is due before the one at half its index
	queues [standings]queue
}

// queue is the records of a standing, from the least recently used to the most.
type queue struct{ first, last ref }

// place is what room knows of a record.
type place struct {
	expires    int64 // not later than when the record expires, see rank
	prev, next ref   // in the queue
	due        int32 // index in the heap
	standing   standing
}

// standing is how much harm it does to forget a bucket before it expires. Those that do the least are forgotten first.
type standing uint8

const (
	spare     standing = iota // has something left
	limited                   // holds callers back
	held                      // has leases
	standings                 // how many there are
)

func newRoom(size int) *room { return &room{size: size, due: newArray[ref](1)} }

func (s *shard) place(at ref) *place { return s.slabs[at.kind()].places.at(at.index()) }

// standing returns how a bucket was left by a call.
func (b bucket) standing(retry int64, l *limit) standing {
	switch {
	case l.algorithm == ratelimit.Concurrency && b.used > 0:
		return held
	case retry > 0 || b.used >= l.capacity:
		return limited
	}
	return spare
}

// enter makes the place of a record that was added.
func (s *shard) enter(at ref, expires int64) {
	due := &s.room.due
	due.push()
	*due.at(due.len - 1) = at
	*s.place(at) = place{expires: expires, due: int32(due.len - 1)}
	s.enqueue(at)
	s.reschedule(at, expires)
}

// leave gives up the place of a record that is removed.
func (s *shard) leave(at ref) {
	s.dequeue(at)
	due := &s.room.due
	i, last := uint(s.place(at).due), *due.at(due.len - 1)
	due.pop()
	if last != at {
		s.setDue(i, last)
		s.reschedule(last, s.place(last).expires)
	}
}

// moved takes down that a record has moved.
func (s *shard) moved(from, to ref) {
	p := s.place(to)
	*p = *s.place(from)
	*s.room.due.at(uint(p.due)) = to
	prev, next := s.neighbours(p)
	*prev, *next = to, to
}

// rank makes a record the most recently used of its standing. Its expiry is mostly later than before, and is not
// noted until the heap asks for it: a bucket that is in use does not move in the heap with each call.
func (s *shard) rank(at ref, standing standing, expires int64) {
	s.dequeue(at)
	p := s.place(at)
	p.standing = standing
	s.enqueue(at)
	if expires < p.expires {
		s.reschedule(at, expires)
	}
}

func (s *shard) enqueue(at ref) {
	p := s.place(at)
	q := &s.room.queues[p.standing]
	p.prev, p.next = q.last, 0
	prev, next := s.neighbours(p)
	*prev, *next = at, at
}

func (s *shard) dequeue(at ref) {
	p := s.place(at)
	prev, next := s.neighbours(p)
	*prev, *next = p.next, p.prev
}

// neighbours returns what refers to a place in its queue: from the side of those less recently used, and from the other.
func (s *shard) neighbours(p *place) (prev, next *ref) {
	q := &s.room.queues[p.standing]
	prev, next = &q.first, &q.last
	if p.prev != 0 {
		prev = &s.place(p.prev).next
	}
	if p.next != 0 {
		next = &s.place(p.next).prev
	}
	return prev, next
}

// reschedule puts a record where it belongs in the heap.
func (s *shard) reschedule(at ref, expires int64) {
	due, p := &s.room.due, s.place(at)
	p.expires = expires
	i := uint(p.due)
	for i > 0 { // up
		parent := *due.at((i - 1) / 2)
		if s.place(parent).expires <= expires {
			break
		}
		s.setDue(i, parent)
		i = (i - 1) / 2
	}
	for 2*i+1 < due.len { // down
		child := 2*i + 1
		if child+1 < due.len && s.place(*due.at(child + 1)).expires < s.place(*due.at(child)).expires {
			child++
		}
		if s.place(*due.at(child)).expires >= expires {
			break
		}
		s.setDue(i, *due.at(child))
		i = child
	}
	s.setDue(i, at)
}

func (s *shard) setDue(i uint, at ref) {
	*s.room.due.at(i) = at
	s.place(at).due = int32(i)
}

// expired returns a record that has expired, or 0 if none has.
func (s *shard) expired(now int64) ref {
	for s.room.due.len > 0 {
		at := *s.room.due.at(0)
		if s.place(at).expires > now {
			return 0
		}
		expires := s.record(at).expires()
		if expires <= now {
			return at
		}
		s.reschedule(at, expires)
	}
	return 0
}

// sweepDue removes up to maxSweep records that have expired, and returns how many.
func (s *shard) sweepDue(now int64) (removed int) {
	for removed < maxSweep {
		at := s.expired(now)
		if at == 0 {
			break
		}
		s.remove(at)
		removed++
	}
	return removed
}

// makeRoom forgets a record if there is no room for another. A record that moves for that may be of the call.
func (s *shard) makeRoom(call []visit, now int64) {
	if s.len < s.room.size {
		return
	}
	at := s.victim(call, now)
	if s.record(at).expires() > now {
		s.evicted++
	}
	moved := s.remove(at)
	for i := range call {
		if v := &call[i]; v.shard == s && v.at == moved {
			v.at = at
		}
	}
}

// victim returns the record to forget for a bucket of a call: one that has expired, or the least recently used of
// those that do the least harm, but none of the call itself. There is always one: a call has no more charges than there is
// room for.
func (s *shard) victim(call []visit, now int64) ref {
	if at := s.expired(now); at != 0 {
		return at
	}
	for i := range s.room.queues {
		for at := s.room.queues[i].first; at != 0; at = s.place(at).next {
			if !s.inCall(call, at) {
				return at
			}
		}
	}
	return 0
}

func (s *shard) inCall(call []visit, at ref) bool {
	for i := range call {
		if v := &call[i]; v.shard == s && v.at == at {
			return true
		}
	}
	return false
}
