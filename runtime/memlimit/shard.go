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
	over       bool   // see bucket.at
	retry      int64  // see bucket.decide
	delay      int64  // see bucket.decide
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
		v.bucket, v.over = e.bucket.at(now, &v.limit)
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
func (v *visit) save(names []byte, now, reset int64) {
	if v.index < 0 {
		v.index = v.shard.add(string(names[v.start:v.end]))
	}
	e := &v.shard.entries[v.index]
	e.bucket, e.expires = v.bucket.kept(now, &v.limit), now+reset
}

// extend keeps the bucket for longer if its limit has become slower since it was saved.
func (v *visit) extend(expires int64) {
	if v.index >= 0 {
		e := &v.shard.entries[v.index]
		e.expires = max(e.expires, expires)
	}
}

func (v *visit) remove() {
	if v.index >= 0 {
		v.shard.remove(int(v.index))
	}
}

func (v *visit) result(reset int64) ratelimit.Result {
	r := ratelimit.Result{
		Allowed:    v.retry == 0,
		Limit:      v.limit.capacity,
		Remaining:  max(0, v.limit.capacity-v.bucket.used),
		RetryAfter: time.Duration(v.retry) * time.Microsecond,
		ResetAfter: time.Duration(reset) * time.Microsecond,
		Delay:      time.Duration(v.delay) * time.Microsecond,
	}
	if v.retry == never {
		r.RetryAfter = ratelimit.Never
	}
	return r
}

func (s *shard) add(name string) int32 {
	i := int32(len(s.entries))
	s.index[name] = i
	s.entries = append(s.entries, entry{name: name})
	return i
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
}

// sweep removes those of the next n entries that have expired.
func (s *shard) sweep(now int64, n int) {
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
	if c := cap(s.entries); c > minEntries && len(s.entries) <= c/8 {
		s.rebuild()
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
}
