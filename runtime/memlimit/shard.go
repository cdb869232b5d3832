package memlimit

import (
	"sync"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// shard is a part of the buckets, under one lock: a hash table whose lines are split and joined one by one as records come
// and go (W. Litwin, Linear hashing, 1980), so that no call pays for a table that grows.
type shard struct {
	mu      sync.Mutex
	now     int64       // of the latest call, see Store.lock
	lines   array[line] // that say where the records are
	mask    uint        // of the bits of a hash of which the lines, some of them, make a difference
	slabs   []slab      // by kind
	len     int         // records
	recent  recent      // the record that was found last
	room    *room       // nil if there is no end of it
	evicted uint64      // how many records were forgotten before they had expired
	cursor  ref         // the record that is swept next, if there is one
	owed    uint32      // towards the next sweep, see sweepEvery
	sweeps  uint32      // how many calls that locked the shard have swept another, over and over from 0
	_       [128]byte   // keeps the next shard out of the cache lines of this one
}

// recent is a record that is likely to be asked for next, as that of a key is that many calls go by: it is found without
// its line. It is none once a record has come or gone, since others may have moved.
type recent struct {
	hash   uint32
	at     ref // 0 if there is none
	record record
}

// A line has minFill to maxFill records on average. In the course of a doubling, those that have not been split yet have up to
// twice as many: more would leave many records without a place, and fewer take up more of the caches.
const (
	minFill = 4
	maxFill = 8
)

func (s *shard) init() {
	s.lines = newArray[line](1)
	s.lines.push()
}

// at returns the time of a call that read the clock before it locked the shard.
func (s *shard) at(now int64) int64 {
	s.now = max(s.now, now)
	return s.now
}

// owe notes what a call owes towards the next sweep, which depends on whether sweeps find anything. If it is to sweep, it
// returns a number that is another each time.
func (s *shard) owe(busy bool) (sweep uint32) {
	s.owed++
	if busy {
		s.owed += sweepCall - 1
	}
	if s.owed < sweepEvery {
		return 0
	}
	s.owed = 0
	s.sweeps++
	return s.sweeps
}

// find returns the record of a charge's bucket, and where it is, or 0 if there is none.
func (s *shard) find(hash uint32, c *ratelimit.Charge) (ref, record) {
	if r := &s.recent; r.at != 0 && r.hash == hash && r.record.is(hash, c) {
		return r.at, r.record
	}
	return s.search(hash, c)
}

// search is find by the line.
func (s *shard) search(hash uint32, c *ratelimit.Charge) (ref, record) {
	l := s.lines.at(s.line(hash))
	for m := l.match(tagOf(hash)); m != 0; m = m.rest() {
		at := l.refs[m.first()]
		if r := s.record(at); r.is(hash, c) {
			s.recent = recent{hash, at, r}
			return at, r
		}
	}
	for at := l.more; at != 0; {
		r := s.record(at)
		if r.is(hash, c) {
			s.recent = recent{hash, at, r}
			return at, r
		}
		at = r.next()
	}
	return 0, nil
}

// line returns the line of a hash. In the course of a doubling, those that have not been split yet have the hashes of two.
func (s *shard) line(hash uint32) uint {
	if i := uint(hash) & s.mask; i < s.lines.len {
		return i
	}
	return uint(hash) & (s.mask >> 1)
}

// record returns a record, until the next is added or removed. Most are of the first kind, of which the processor does not wait
// for the ref to know its slab.
func (s *shard) record(at ref) record {
	if at <= maxSlab {
		return s.slabs[0].records.slice(uint(at - 1))
	}
	return s.slabs[at.kind()].records.slice(at.index())
}

// bucket returns the bucket that was kept in a record.
func (s *shard) bucket(at ref, r record, l *limit) bucket {
	b := r.bucket()
	if l.detailed {
		b.detail = *s.detail(at)
	}
	return b
}

// save keeps a bucket in a record.
func (s *shard) save(at ref, r record, b bucket, l *limit) {
	r.setBucket(b)
	if l.detailed {
		*s.detail(at) = b.detail
	}
}

func (s *shard) detail(at ref) **detail { return s.slabs[at.kind()].details.at(at.index()) }

// add makes a record for a charge's bucket, which has none.
func (s *shard) add(hash uint32, c *ratelimit.Charge) ref {
	s.recent = recent{}
	k := kindOf(c)
	sl := s.slab(k)
	for sl.records.len == maxSlab { // or the ref would not fit
		k += 2
		sl = s.slab(k)
	}
	sl.records.push()
	if k.detailed() {
		sl.details.push()
	}
	if s.room != nil {
		sl.places.push()
	}
	at := refTo(k, sl.records.len-1)
	r := s.record(at)
	r.init(hash, c)
	s.link(at)
	s.len++
	s.owed += sweepNew
	for s.lines.len*maxFill < uint(s.len) {
		s.split()
	}
	return at
}

func (s *shard) slab(k kind) *slab {
	for len(s.slabs) <= int(k) {
		s.slabs = append(s.slabs, slab{
			records: newArray[byte](kind(len(s.slabs)).size()),
			details: newArray[*detail](1),
			places:  newArray[place](1),
		})
	}
	return &s.slabs[k]
}

// remove removes a record and returns which one has taken its place: itself if it was the last.
func (s *shard) remove(at ref) (moved ref) {
	if s.room != nil {
		s.leave(at)
	}
	s.recent = recent{}
	r := s.record(at)
	s.unlink(at)

	k := at.kind()
	sl := &s.slabs[k]
	last := refTo(k, sl.records.len-1)
	if last != at {
		moving := s.record(last)
		s.relink(last, at)
		copy(r, moving)
		if k.detailed() {
			*s.detail(at) = *s.detail(last)
		}
		if s.room != nil {
			s.moved(last, at)
		}
	}
	sl.records.pop()
	if k.detailed() {
		sl.details.pop()
	}
	if s.room != nil {
		sl.places.pop()
	}
	s.len--
	for s.lines.len > 1 && s.lines.len*minFill > uint(s.len) {
		s.join()
	}
	return last
}

// link puts a record into the line of its hash.
func (s *shard) link(at ref) {
	r := s.record(at)
	l := s.lines.at(s.line(r.hash()))
	if free := l.match(noTag); free != 0 {
		i := free.first()
		l.tags[i], l.refs[i] = tagOf(r.hash()), at
		return
	}
	r.setNext(l.more)
	l.more = at
}

// unlink takes a record out of its line. One for which there was no place gets that of it.
func (s *shard) unlink(at ref) {
	l, i := s.linked(at)
	switch {
	case i == perLine:
		s.relink(at, s.record(at).next())
	case l.more != 0:
		r := s.record(l.more)
		l.tags[i], l.refs[i], l.more = tagOf(r.hash()), l.more, r.next()
	default:
		l.tags[i], l.refs[i] = noTag, 0
	}
}

// relink makes what refers to a record in its line refer to another.
func (s *shard) relink(from, to ref) {
	l, i := s.linked(from)
	switch {
	case i < perLine:
		l.refs[i] = to
	case l.more == from:
		l.more = to
	default:
		r := s.record(l.more)
		for r.next() != from {
			r = s.record(r.next())
		}
		r.setNext(to)
	}
}

// linked returns the line of a record, and at which place it is, or perLine if at none.
func (s *shard) linked(at ref) (l *line, place int) {
	hash := s.record(at).hash()
	l = s.lines.at(s.line(hash))
	for m := l.match(tagOf(hash)); m != 0; m = m.rest() {
		if i := m.first(); l.refs[i] == at {
			return l, i
		}
	}
	return l, perLine
}

// split makes one line more, of records of that one which had its hashes so far.
func (s *shard) split() {
	n := s.lines.len
	if n > s.mask {
		s.mask = 2*s.mask + 1
	}
	s.lines.push()
	l := s.lines.at(n & (s.mask >> 1))
	all := *l
	*l = line{}
	s.linkAll(&all)
}

// join is the way back from split.
func (s *shard) join() {
	n := s.lines.len - 1
	all := *s.lines.at(n)
	s.lines.pop()
	if n == s.mask>>1+1 {
		s.mask >>= 1
	}
	s.linkAll(&all)
}

// linkAll puts the records of what was a line into those of their hashes.
func (s *shard) linkAll(l *line) {
	for _, at := range l.refs {
		if at != 0 {
			s.link(at)
		}
	}
	for at := l.more; at != 0; {
		next := s.record(at).next()
		s.link(at)
		at = next
	}
}

// sweep removes records that have expired: of at least minSweep, and of up to maxSweep as long as one in four has. It returns
// how many.
func (s *shard) sweep(now int64) (removed int) {
	s.now = max(s.now, now) // so that a call that read the clock before is not decided at a time when they counted
	if s.room != nil {
		return s.sweepDue(now)
	}
	for i := 0; s.len > 0 && (i < minSweep || i < maxSweep && i < 4*removed); i++ {
		at := s.next()
		if s.record(at).expires() <= now {
			s.remove(at) // and another is there
			removed++
		} else {
			s.cursor++
		}
	}
	return removed
}

// next moves the cursor to a record, if it is at none. There must be one.
func (s *shard) next() ref {
	k, i := kind(0), uint(0)
	if s.cursor != 0 {
		k, i = s.cursor.kind(), s.cursor.index()
	}
	for int(k) >= len(s.slabs) || i >= s.slabs[k].records.len {
		k, i = k+1, 0
		if int(k) >= len(s.slabs) {
			k = 0
		}
	}
	s.cursor = refTo(k, i)
	return s.cursor
}
