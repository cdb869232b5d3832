package ratelimit

import (
	"bytes"
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// stockShelves is how many locks the piles are spread over, well above the number of cores, so that calls on different
	// buckets rarely meet.
	stockShelves = 128
	// maxPiles is how many piles a shelf holds, 131072 in all. Calls on other buckets take what they need.
	maxPiles = 1024
)

// stock is what a [Limiter] has taken of its store in advance, for the charges that have a prefetch. A call that finds enough
// here does not go to the store.
type stock struct {
	store   Store
	tell    func(error) // what becomes of an error in the background
	base    time.Time
	seed    maphash.Seed
	shelves [stockShelves]shelf

	trips  atomic.Int64 // calls that may yet bring units
	closed atomic.Bool
	quiet  chan struct{} // told when a closed stock has no trips any more

	packing    sync.Mutex    // goes before the locks of the shelves
	packed     unused        // on its way back
	allArrived chan struct{} // closed when nothing of that is any more
	refunding  crowd         // refunds that have not returned

	piles atomic.Int64
	mu    sync.Mutex
	look  *time.Timer // when somebody looks for what lies idle; nil if there is nothing
}

// shelf is a part of the piles, by the names of their buckets.
type shelf struct {
	mu    sync.Mutex
	piles map[string]*pile
	_     [64]byte // calls on other shelves, on other cores, have lines of the cache of their own
}

func newStock(store Store, tell func(error)) *stock {
	base := time.Now().Add(-time.Second) // so that nothing that is 0 is in the future
	return &stock{store: store, tell: tell, base: base, seed: maphash.MakeSeed(), quiet: make(chan struct{}, 1)}
}

// now is read under the lock of a shelf: a call that has waited for it must not use what has ended meanwhile.
func (s *stock) now() time.Duration { return time.Since(s.base) }

// Take is that of a [Store], whose charges and results need no check. A call waits for two answers at most: the second is to a
// question for just what it needs, if there was less than it wanted, or it has waited in vain for what another call asked for. If
// it would be refused while units lie here that were taken by another limit of its bucket, which is overridden, it gives these
// back and asks once more, so that it waits for four.
func (s *stock) Take(ctx context.Context, charges []Charge, results []Result) error {
	modest := false
	if len(charges) == 1 {
		served, promised := s.serve(&charges[0], &results[0])
		if promised.refill != nil {
			var err error
			if served, err = promised.wait(ctx, &results[0]); err != nil {
				return err
			}
			modest = true
		}
		if served {
			return nil
		}
	}
	if !s.enter() {
		return s.store.Take(ctx, charges, results)
	}
	defer s.leave()
	t := tripPool.Get().(*trip)
	defer t.release()
	for last := false; ; {
		s.plan(t, charges, results, modest)
		if len(t.charges) == 0 {
			s.settle(t, charges, results)
			return nil
		}
		again, err := s.travel(ctx, t, charges, results)
		if err != nil {
			return err
		}
		if !again {
			if last || !s.returnOthers(ctx, charges, results, s.now()-t.asked) {
				return nil
			}
			last = true
		}
		modest = true
	}
}

// serve decides a charge by what lies here, if that is enough, or else promises it units that are on their way.
func (s *stock) serve(c *Charge, r *Result) (served bool, promised promise) {
	if !c.stocked() {
		return false, promise{}
	}
	sh, p := s.find(c)
	defer sh.mu.Unlock()
	if p == nil {
		return false, promise{}
	}
	now := s.now()
	p.expire(now)
	if p.units < c.Cost {
		return false, p.refill.join(c.Cost)
	}
	p.touched = now
	p.spend(c.Cost)
	*r = p.result(now)
	return true, promise{}
}

// stocked reports whether units for the charge may lie here.
func (c *Charge) stocked() bool {
	return c.prefetch > 0 && c.Cost > 0 && c.Cost <= c.Limit.Capacity()
}

// find returns the pile for a charge, or nil, and its shelf, which is then locked. A pile that is of another limit is for other
// calls.
func (s *stock) find(c *Charge) (*shelf, *pile) {
	var array [128]byte
	sh, p := s.findAny(c, array[:0])
	if p != nil && p.bucket.Limit != c.Limit {
		return sh, nil
	}
	return sh, p
}

// findAny is find, whatever the limit that the pile is of. It writes the name of the pile to dst, which has room for most.
func (s *stock) findAny(c *Charge, dst []byte) (*shelf, *pile) {
	name := appendBucket(dst, c)
	sh := &s.shelves[maphash.Bytes(s.seed, name)%stockShelves]
	sh.mu.Lock()
	return sh, sh.piles[string(name)]
}

// open is find, and makes the pile if there is room for another one. One of another limit of the bucket makes way if nothing lies
// there: calls that are refused by the one would else keep those of the other from taking in advance. The first of these then takes
// just what it needs, as refused calls that come in turn with them would have all else given back.
func (s *stock) open(c *Charge) (*shelf, *pile) {
	var array [128]byte
	sh, p := s.findAny(c, array[:0])
	if p != nil && p.bucket.Limit == c.Limit {
		return sh, p
	}
	name, room := string(appendBucket(nil, c)), c.Limit.Capacity()
	if p != nil {
		room = 0
		if p.expire(s.now()); p.units > 0 || p.calls > 0 {
			return sh, nil
		}
		s.forget(sh, name)
	}
	if len(sh.piles) == maxPiles {
		return sh, nil
	}
	if sh.piles == nil {
		sh.piles = map[string]*pile{}
	}
	p = &pile{bucket: Charge{Key: bytes.Clone(c.Key), Name: c.Name, Limit: c.Limit}, room: room}
	sh.piles[name] = p
	s.piles.Add(1)
	s.watch()
	return sh, p
}

// here returns how many units lie here for a charge that does not use them.
func (s *stock) here(c *Charge) int64 {
	if c.prefetch == 0 {
		return 0
	}
	sh, p := s.find(c)
	defer sh.mu.Unlock()
	if p == nil {
		return 0
	}
	p.expire(s.now())
	return p.units
}
