package memlimit

import (
	"sync"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// shard is a part of the buckets, under one lock. Entries lie in a slice, so that a sweep can go on where the last one
// stopped.
type shard struct {
	mu      sync.Mutex
	index   map[string]int32 // the entry of a bucket by its name
	entries []entry
	room    *room     // nil if there is no end of it
	evicted uint64    // how many entries were forgotten before they had expired
	cursor  int       // the entry that is swept next
	calls   uint32    // how many calls have locked the shard, over and over from 0
	_       [128]byte // keeps the next shard out of the cache lines of this one
}

type entry struct {
	name    string
	bucket  bucket
	expires int64 // when the bucket is as new, by the limit that it was charged with last
}

// minEntries is the capacity below which a shard is not worth rebuilding.
const minEntries = 32

// visit is one charge of a call on its bucket. Its shard is locked while it is open.
type visit struct {
	charge     *ratelimit.Charge
	shard      *shard
	start, end int // of the bucket's name in the names of the call
	limit      limit
	index      int32  // of the entry, or -1 if there is none
	bucket     bucket // as it stands at the time of the call
	retry      int64  // see bucket.decide
	delay      int64  // see bucket.decide
	reset      int64  // see bucket.reset
}

// open looks the bucket up.
func (v *visit) open(names []byte, now int64) {
	v.bucket = bucket{mark: now}
	i, ok := v.shard.index[string(names[v.start:v.end])]
	if !ok {
		v.index = -1
		return
	}
	v.index = i
	// An expired entry that has not been swept is as new whatever the limit is now. In Redis it would be gone.
	if e := &v.shard.entries[i]; now < e.expires {
		v.bucket = e.bucket.at(now, &v.limit)
	}
}

// decide looks the bucket up and asks it.
func (v *visit) decide(names []byte, now int64) {
	v.open(names, now)
	v.retry, v.delay = v.bucket.decide(v.charge, now, &v.limit)
}

// refund gives the charge back, and returns false if there is nothing that its holder could give back.
func (v *visit) refund(now int64) (held bool) {
	v.bucket, held = v.bucket.refunded(v.charge, now, &v.limit)
	return held
}

// save keeps the bucket as it now stands, until it is as new.
func (v *visit) save(now int64) {
	e := &v.shard.entries[v.index]
	e.bucket, e.expires = v.bucket.kept(now, &v.limit), now+v.reset
}

// extend keeps the bucket for longer if its limit has become slower since it was saved.
func (v *visit) extend(now int64) {
	if v.index >= 0 {
		e := &v.shard.entries[v.index]
		e.expires = max(e.expires, now+v.reset)
	}
}

// touch notes that the bucket was used, and how it was left, where that matters.
func (v *visit) touch() {
	if v.shard.room != nil {
		v.rank()
	}
}

func (v *visit) remove() {
	if v.index >= 0 {
		v.shard.remove(int(v.index))
	}
}

func (v *visit) result(now int64) ratelimit.Result {
	r := ratelimit.Result{
		Allowed:    v.retry == 0,
		Limit:      v.limit.capacity,
		Remaining:  max(0, v.limit.capacity-v.bucket.used),
		RetryAfter: time.Duration(v.retry) * time.Microsecond,
		ResetAfter: time.Duration(v.reset) * time.Microsecond,
		Delay:      time.Duration(v.delay) * time.Microsecond,
		At:         time.Duration(now) * time.Microsecond,
	}
	if v.retry == never {
		r.RetryAfter = ratelimit.Never
	}
	return r
}

// addMissing makes the buckets that a call is the first to charge. Its others have been saved, so that none of them has
// expired and would have to make room.
func addMissing(visits []visit, names []byte, now int64) {
	for i := range visits {
		v := &visits[i]
		if v.index < 0 && v.charge.Cost > 0 {
			v.index = v.shard.add(string(names[v.start:v.end]), now+v.reset, visits, now)
			v.save(now)
			v.touch()
		}
	}
}

// add makes an entry for a bucket of the given call. When there is no room for another, it takes the place of one that is
// forgotten, so that no other entry moves.
func (s *shard) add(name string, expires int64, call []visit, now int64) int32 {
	if s.room != nil {
		if len(s.entries) >= s.room.size {
			if i, ok := s.victim(call, now); ok {
				s.replace(i, name, now)
				return i
			}
		}
		s.room.add(expires)
	}
	i := int32(len(s.entries))
	s.index[name] = i
	s.entries = append(s.entries, entry{name: name})
	return i
}

func (s *shard) replace(i int32, name string, now int64) {
	e := &s.entries[i]
	if e.expires > now {
		s.evicted++
	}
	delete(s.index, e.name)
	s.index[name] = i
	*e = entry{name: name}
}

// remove puts the last entry in the place of the i-th.
func (s *shard) remove(i int) {
	last := len(s.entries) - 1
	delete(s.index, s.entries[i].name)
	if i != last {
		s.entries[i] = s.entries[last]
		s.index[s.entries[i].name] = int32(i)
	}
	s.entries[last] = entry{}
	s.entries = s.entries[:last]
	if s.room != nil {
		s.room.remove(i)
	}
}

// sweep removes those of the next n entries that have expired.
func (s *shard) sweep(now int64, n int) {
	if s.room != nil {
		s.sweepDue(now, n)
	} else {
		s.sweepNext(now, n)
	}
	if c := cap(s.entries); c > minEntries && len(s.entries) <= c/8 {
		s.rebuild()
	}
}

func (s *shard) sweepNext(now int64, n int) {
	for range min(n, len(s.entries)) {
		if s.cursor >= len(s.entries) {
			s.cursor = 0
		}
		if s.entries[s.cursor].expires <= now {
			s.remove(s.cursor)
		} else {
			s.cursor++
		}
	}
}

// rebuild gives back the memory of a shard that is nearly empty: neither a map nor a slice shrinks by itself. It copies
// at most an eighth of what the shard once held.
func (s *shard) rebuild() {
	entries := make([]entry, len(s.entries), 2*len(s.entries))
	copy(entries, s.entries)
	index := make(map[string]int32, len(entries))
	for i := range entries {
		index[entries[i].name] = int32(i)
	}
	s.entries, s.index = entries, index
	if s.room != nil {
		s.room.clip()
	}
}
