package ratelimit

import (
	"bytes"
	"context"
	"errors"
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
	// modestTry is the try, of those that a call makes since the store has refused more than it needs, that asks for just
	// that.
	modestTry = 2
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

// Take is that of a [Store], whose charges and results need no check.
func (s *stock) Take(ctx context.Context, charges []Charge, results []Result) error {
	if len(charges) == 1 && s.serve(&charges[0], &results[0]) {
		return nil
	}
	if !s.enter() {
		return s.store.Take(ctx, charges, results)
	}
	defer s.leave()
	t := tripPool.Get().(*trip)
	defer t.release()
	for try := 0; ; try++ {
		if err := s.plan(ctx, t, charges, results, try >= modestTry); err != nil {
			return err
		}
		if len(t.charges) == 0 {
			s.settle(t, charges, results)
			return nil
		}
		if again, err := s.travel(ctx, t, charges, results); !again {
			return err
		}
	}
}

// serve decides a charge by what lies here, if that is enough.
func (s *stock) serve(c *Charge, r *Result) bool {
	if !c.stocked() {
		return false
	}
	var array [128]byte
	name := appendBucket(array[:0], c)
	sh := s.shelf(name)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	p := sh.find(name, c)
	if p == nil {
		return false
	}
	now := s.now()
	p.expire(now)
	if p.units < c.Cost {
		return false
	}
	p.touched = now
	p.spend(c.Cost)
	*r = p.result(now)
	return true
}

// stocked reports whether units for the charge may lie here.
func (c *Charge) stocked() bool {
	return c.prefetch > 0 && c.Cost > 0 && c.Cost <= c.Limit.Capacity()
}

func (s *stock) shelf(name []byte) *shelf {
	return &s.shelves[maphash.Bytes(s.seed, name)%stockShelves]
}

// find returns the pile for a charge on the bucket of that name, or nil. One that is of another limit is for other calls. The
// shelf is locked.
func (sh *shelf) find(name []byte, c *Charge) *pile {
	if p := sh.piles[string(name)]; p != nil && p.bucket.Limit == c.Limit {
		return p
	}
	return nil
}

// open returns the pile for a charge on its shelf, which is then locked. There is none if it is of another limit, or if there
// are too many.
func (s *stock) open(c *Charge) (*shelf, *pile) {
	var array [128]byte
	name := appendBucket(array[:0], c)
	sh := s.shelf(name)
	sh.mu.Lock()
	p := sh.piles[string(name)]
	switch {
	case p != nil && p.bucket.Limit != c.Limit, p == nil && len(sh.piles) == maxPiles:
		return sh, nil
	case p == nil:
		p = &pile{bucket: Charge{Key: bytes.Clone(c.Key), Name: c.Name, Limit: c.Limit}, room: c.Limit.Capacity()}
		if sh.piles == nil {
			sh.piles = map[string]*pile{}
		}
		sh.piles[string(name)] = p
		s.piles.Add(1)
		s.watch()
	}
	return sh, p
}

// trip is the way of a call to the store.
type trip struct {
	claims  []claim  // for each charge of the call
	charges []Charge // of those for which there is not enough here
	results []Result
	asked   time.Duration
}

// claim is what a charge has of its pile, and what it asks of the store.
type claim struct {
	shelf   *shelf
	pile    *pile         // nil if the charge has none
	here    int64         // units that it has of the pile
	window  time.Duration // that these are of
	lacking int64         // units that it needs beside them
	ask     int64         // units that are asked of the store, at least what is lacking
	refill  chan struct{} // of the pile, if others wait for this one
}

var tripPool = sync.Pool{New: func() any { return new(trip) }}

func (t *trip) reset() {
	clear(t.claims)
	clear(t.charges)
	t.claims, t.charges, t.results = t.claims[:0], t.charges[:0], t.results[:0]
}

func (t *trip) release() {
	t.reset()
	tripPool.Put(t)
}

// plan claims what lies here for the charges of a call, and puts into the trip what is to be asked of the store. Where a refill
// that may be enough is on its way already, the call waits for it, and holds nothing while it does.
func (s *stock) plan(ctx context.Context, t *trip, charges []Charge, results []Result, modest bool) error {
	for {
		t.reset()
		t.asked = s.now()
		var ahead *claim
		for i := range charges {
			cl, refill := s.claim(&charges[i], &results[i], modest)
			if refill != nil {
				ahead = &cl
				ahead.refill = refill
				break
			}
			t.claims = append(t.claims, cl)
			if cl.ask > 0 || cl.pile == nil {
				c := charges[i]
				if cl.pile != nil {
					c.Cost = cl.ask
				}
				t.charges, t.results = append(t.charges, c), append(t.results, Result{})
			}
		}
		if ahead == nil {
			return nil
		}
		for i := range t.claims {
			t.claims[i].drop()
		}
		if err := ahead.wait(ctx); err != nil {
			return err
		}
	}
}

// claim returns what a charge can have of its pile, or the refill that it should wait for.
func (s *stock) claim(c *Charge, r *Result, modest bool) (cl claim, ahead chan struct{}) {
	if !c.stocked() {
		return claim{}, nil
	}
	sh, p := s.open(c)
	defer sh.mu.Unlock()
	if p == nil {
		return claim{}, nil
	}
	now := s.now()
	p.expire(now)
	p.touched = now
	p.calls++
	cl = claim{shelf: sh, pile: p, here: min(p.units, c.Cost), window: p.window}
	cl.lacking = c.Cost - cl.here
	if p.refill != nil && cl.lacking > 0 && cl.lacking <= p.room {
		p.waiting += cl.lacking
		cl.here = 0
		return cl, p.refill
	}
	p.spend(cl.here)
	switch cl.ask = cl.lacking; {
	case cl.ask == 0:
		*r = p.result(now)
	case p.refill == nil && !modest:
		cl.ask = p.want(c, cl.lacking, now)
	}
	if cl.ask > cl.lacking {
		cl.refill = make(chan struct{})
		p.refill = cl.refill
	}
	p.pledged += cl.pledge()
	return cl, nil
}

// wait waits for the refill of another call, or until ctx ends.
func (cl *claim) wait(ctx context.Context) (err error) {
	select {
	case <-cl.refill:
	case <-ctx.Done():
		err = ctx.Err()
	}
	cl.shelf.mu.Lock()
	defer cl.shelf.mu.Unlock()
	cl.pile.calls--
	cl.pile.waiting -= cl.lacking
	return err
}

// drop puts what a claim has back on its pile, and lets another call ask for more.
func (cl *claim) drop() {
	if cl.pile == nil {
		return
	}
	cl.shelf.mu.Lock()
	defer cl.shelf.mu.Unlock()
	cl.putBack()
}

// putBack ends a claim that has come to nothing. The shelf is locked.
func (cl *claim) putBack() {
	cl.end()
	if cl.window == cl.pile.window { // or they are of one that is over
		cl.pile.spend(-cl.here)
	}
}

// pledge returns how many units a claim may yet put on the pile: what it has of it, or what it asks for beyond its need.
func (cl *claim) pledge() int64 { return max(cl.here, cl.ask-cl.lacking) }

// end lets go of the pile. The shelf is locked.
func (cl *claim) end() {
	cl.pile.calls--
	cl.pile.pledged -= cl.pledge()
	if cl.refill != nil {
		cl.pile.refill = nil
		close(cl.refill)
	}
}

var errPanicked = errors.New("ratelimit: the store panicked")

// travel asks the store, and reports whether to ask again for less, as what it refuses is more than what the call needs.
func (s *stock) travel(ctx context.Context, t *trip, charges []Charge, results []Result) (again bool, err error) {
	arrived := false
	defer func() {
		if !arrived { // nobody may wait for a call that is gone
			s.fail(ctx, t, errPanicked)
		}
	}()
	err = s.store.Take(ctx, t.charges, t.results)
	arrived = true
	if err != nil {
		s.fail(ctx, t, err)
		return false, err
	}
	return s.settle(t, charges, results), nil
}

// fail ends a trip that the store has not answered: what it may have given all the same is lost. Those who wait go to the store
// themselves, as calls without a stock do, unless it was only the time of this call that was up.
func (s *stock) fail(ctx context.Context, t *trip, err error) {
	for i := range t.claims {
		cl := &t.claims[i]
		if cl.pile == nil {
			continue
		}
		cl.shelf.mu.Lock()
		cl.putBack()
		if cl.refill != nil && (ctx.Err() == nil || errors.Is(err, errPanicked)) {
			cl.pile.room = 0
		}
		cl.shelf.mu.Unlock()
	}
}

// settle ends a trip that the store has answered. It reports whether the call should ask again, for less.
func (s *stock) settle(t *trip, charges []Charge, results []Result) (again bool) {
	refused := false
	for i := range t.results {
		refused = refused || !t.results[i].Allowed
	}
	next := 0
	for i := range t.claims {
		cl := &t.claims[i]
		var answer *Result
		if cl.ask > 0 || cl.pile == nil {
			answer = &t.results[next]
			results[i] = *answer
			next++
		}
		if cl.pile == nil {
			results[i].Remaining += s.here(&charges[i])
			continue
		}
		cl.shelf.mu.Lock()
		now := s.now()
		switch {
		case !refused && answer != nil:
			cl.end()
			if cl.pile.learn(cl.ask, cl.ask-cl.lacking, t.asked, answer, charges[i].elsewhere) {
				cl.pile.used = charges[i].Cost
				cl.pile.expire(now)
				results[i] = cl.pile.result(t.asked)
			}
		case !refused:
			cl.end()
		case answer == nil:
			cl.putBack()
			results[i] = cl.pile.result(now)
		default:
			cl.putBack()
			cl.pile.learn(0, 0, t.asked, answer, 0)
			results[i].Remaining += cl.pile.units
			again = again || !answer.Allowed && cl.ask > cl.lacking
		}
		cl.shelf.mu.Unlock()
	}
	return again
}

// here returns how many units lie here for a charge that does not use them.
func (s *stock) here(c *Charge) int64 {
	if c.prefetch == 0 {
		return 0
	}
	var array [128]byte
	name := appendBucket(array[:0], c)
	sh := s.shelf(name)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	p := sh.find(name, c)
	if p == nil {
		return 0
	}
	p.expire(s.now())
	return p.units
}
