package memlimit

import "maps"

// leases are the slots that are held, in the order in which they end, and by holder. What a call wants of them is its own or
// is at either end: a new lease ends last, unless the lease time was made shorter.
type leases struct {
	held    int64             // slots
	root    lease             // lies between the last to end and the first: they are its prev and its next
	holders map[string]*lease // the lease of each holder that has its lowest slots
	room    int               // the most holders that the map has held
}

// lease is a run of one holder's slots, which end at the same time. The slots of a holder are numbered from 0 on, so that
// one who takes again takes nothing more. They are several leases only if it takes another number of them.
type lease struct {
	holder     string
	from, to   int64  // the first slot, and the one after the last
	ends       int64  // microseconds of the store's clock
	higher     *lease // of the same holder
	prev, next *lease
}

// minHolders is the number of holders below which their map is not worth making smaller.
const minHolders = 32

func newLeases() *leases {
	s := &leases{holders: map[string]*lease{}}
	s.root.prev, s.root.next = &s.root, &s.root
	return s
}

// leased returns a concurrency limit of which the holder holds its first n slots until the given time.
func (b bucket) leased(holder string, n, ends int64) bucket {
	if b.detail == nil {
		b.detail = &detail{leases: newLeases()}
	}
	b.detail.leases.take(holder, n, ends)
	b.used = b.detail.leases.held
	return b
}

// released returns a concurrency limit without the first n slots of a holder, and whether it held any of them.
func (b bucket) released(holder string, n int64) (_ bucket, held bool) {
	if b.used == 0 {
		return b, false
	}
	before := b.used
	b.detail.leases.release(holder, n)
	b.used = b.detail.leases.held
	return b, b.used < before
}

// held returns how many of its first n slots of a concurrency limit a holder holds.
func (b bucket) held(holder string, n int64) int64 {
	if b.used == 0 {
		return 0
	}
	return b.detail.leases.of(holder, n)
}

// slotWait returns the microseconds until a holder can have its first n slots, when lacking slots are too few for all of
// them. Those that it holds are among the n: it lacks them no more, and is not helped when they come back.
func (b bucket) slotWait(holder string, n, lacking, now int64) int64 {
	if lacking -= b.held(holder, n); lacking <= 0 {
		return 0
	}
	l := b.detail.leases.root.next
	for {
		from := l.from
		if l.holder == holder {
			from = min(max(from, n), l.to)
		}
		if lacking -= l.to - from; lacking <= 0 {
			return l.ends - now
		}
		l = l.next
	}
}

// at drops the leases that have ended, which nothing revives, and returns how many slots are held.
func (s *leases) at(now int64) int64 {
	for l := s.root.next; l != &s.root && l.ends <= now; l = s.root.next {
		s.remove(l)
	}
	return s.held
}

// of returns how many of its first n slots a holder holds.
func (s *leases) of(holder string, n int64) int64 {
	var held int64
	for l := s.holders[holder]; l != nil && l.from < n; l = l.higher {
		held += min(l.to, n) - l.from
	}
	return held
}

// take lets a holder hold its first n slots until the given time.
func (s *leases) take(holder string, n, ends int64) {
	s.release(holder, n)
	l := &lease{holder: holder, to: n, ends: ends, higher: s.holders[holder], prev: s.root.prev}
	for l.prev.ends > ends { // those of root are 0
		l.prev = l.prev.prev
	}
	l.next = l.prev.next
	l.prev.next, l.next.prev = l, l
	s.holders[holder] = l
	s.held += n
	s.room = max(s.room, len(s.holders))
}

// release takes the first n slots from a holder.
func (s *leases) release(holder string, n int64) {
	for l := s.holders[holder]; l != nil && l.from < n; l = l.higher {
		if l.to > n {
			s.held -= n - l.from
			l.from = n
			return
		}
		s.remove(l)
	}
}

func (s *leases) remove(l *lease) {
	s.held -= l.to - l.from
	l.prev.next, l.next.prev = l.next, l.prev
	if lowest := s.holders[l.holder]; lowest != l {
		for lowest.higher != l {
			lowest = lowest.higher
		}
		lowest.higher = l.higher
		return
	}
	if l.higher != nil {
		s.holders[l.holder] = l.higher
		return
	}
	delete(s.holders, l.holder)
	if s.room > minHolders && len(s.holders) <= s.room/8 {
		s.rebuild()
	}
}

// rebuild gives back the memory of a map that is nearly empty: maps do not shrink by themselves.
func (s *leases) rebuild() {
	holders := make(map[string]*lease, len(s.holders))
	maps.Copy(holders, s.holders)
	s.holders, s.room = holders, len(holders)
}
