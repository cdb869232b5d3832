// Package memlimit keeps buckets in the memory of one process: for development, for tests, and for services that run as
// one instance. Several processes share buckets through package redislimit, whose answers are the same.
package memlimit

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"math/bits"
	"sync/atomic"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

const (
	// maxShards is how many locks the buckets are spread over: well above the number of cores, so that calls on different
	// buckets rarely meet. A call's shards are the bits of a uint64.
	maxShards = 64
	// The calls of a shard look at records of the others: when sweepEvery is owed, at the next minSweep, and at up to
	// maxSweep as long as one in four has expired. A call owes sweepCall, and once the latest calmSweeps have found none that
	// has expired 1; and sweepNew more for a record that it adds, so that for each that comes more are looked at.
	sweepEvery = 64
	sweepCall  = 4
	sweepNew   = 16
	calmSweeps = maxShards
	minSweep   = 8
	maxSweep   = 32
)

// Store is a [ratelimit.Store] that keeps its buckets in memory. Make one by [New]. It is safe for concurrent use and
// runs no goroutine, so that there is nothing to close.
//
// Time is the monotonic clock's, in microseconds: setting the wall clock does nothing to a Store that was made before. A
// bucket is kept until it is as new, and is forgotten a little later: each call sweeps a few of those whose time has
// come, of any key. A process without calls sweeps nothing. How many buckets there can be is for [MaxKeys] to say.
//
// A bucket takes about 80 bytes if its key and the limit's name have up to 23 together, and as many more as they are longer,
// rounded up; with MaxKeys 30 more; that of a sliding log or of a concurrency limit what it keeps besides. Memory is given
// back as buckets are forgotten. However many there are, no call waits until all have been moved or looked through, and the
// garbage collector has next to nothing to look at.
type Store struct {
	base    time.Time
	epoch   int64 // base in microseconds since 1970
	seed    maphash.Seed
	maxKeys int     // the most buckets, or unlimited
	share   int     // the least of it that a shard has
	shards  []shard // their number is a power of two
	known   known
	busy    atomic.Int32 // how many sweeps that find nothing are to come until all is calm
}

var (
	_ ratelimit.Store   = (*Store)(nil)
	_ ratelimit.Renewer = (*Store)(nil)
)

// Option changes a [Store] at its construction.
type Option interface{ apply(*Store) }

type optionFunc func(*Store)

func (f optionFunc) apply(s *Store) { f(s) }

// New returns an empty Store.
func New(opts ...Option) *Store {
	base := time.Now()
	s := &Store{base: base, epoch: epochOf(base), seed: maphash.MakeSeed(), maxKeys: unlimited}
	for _, opt := range opts {
		opt.apply(s)
	}
	s.shards = make([]shard, shardsFor(s.maxKeys))
	s.share = s.maxKeys / len(s.shards)
	for i := range s.shards {
		s.shards[i].init()
	}
	if s.maxKeys != unlimited {
		s.divide()
	}
	return s
}

// Take implements [ratelimit.Store]. Besides the errors of [ratelimit.CheckDecision] and [ratelimit.CheckHolders] it
// returns that of ctx, and what [MaxKeys] says.
func (s *Store) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if l := s.plain(charges, results); l != nil {
		s.takePlain(&charges[0], l, &results[0])
		return nil
	}
	if err := cmp.Or(ratelimit.CheckDecision(charges, results), ratelimit.CheckHolders(charges)); err != nil {
		return err
	}
	if len(charges) > s.share {
		return s.noRoom(charges)
	}
	if len(charges) == 1 {
		s.known.add(&charges[0].Limit)
	}
	var visits [inline]visit
	s.take(visitsOf(charges, visits[:0]), results)
	return nil
}

// take decides the visits, and charges them if none refuses.
func (s *Store) take(visits []visit, results []ratelimit.Result) {
	now, shards := s.lock(visits)
	refused, missing := false, false
	for i := range visits {
		v := &visits[i]
		v.decide(now)
		refused = refused || v.retry != 0
	}
	for i := range visits {
		v := &visits[i]
		take := !refused && v.charge.Cost > 0
		if take {
			v.bucket = v.bucket.charged(v.charge, now, &v.limit)
		}
		v.reset = v.bucket.reset(now, &v.limit)
		v.tell(&results[i], now)
		switch {
		case take && v.at == 0:
			missing = true
		case take:
			v.save(now)
		case refused && v.at != 0:
			v.record.extend(now + v.reset)
		}
		v.touch()
	}
	if missing {
		addMissing(visits, now)
	}
	s.unlock(shards, now)
}

// Peek implements [ratelimit.Store]. Besides the error of [ratelimit.CheckDecision] it returns that of ctx, and what [MaxKeys] says.
func (s *Store) Peek(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if err := cmp.Or(ctx.Err(), ratelimit.CheckDecision(charges, results)); err != nil {
		return err
	}
	if len(charges) > s.share {
		return s.noRoom(charges)
	}
	var array [inline]visit
	visits := visitsOf(charges, array[:0])
	now, shards := s.lock(visits)
	for i := range visits {
		v := &visits[i]
		v.decide(now)
		v.reset = v.bucket.reset(now, &v.limit)
		v.tell(&results[i], now)
	}
	s.unlock(shards, now)
	return nil
}

// Refund implements [ratelimit.Store]. Besides one that matches [ratelimit.ErrLeaseLost] and the errors of
// [ratelimit.CheckCharges] and [ratelimit.CheckHolders] it returns that of ctx, and what [MaxKeys] says.
func (s *Store) Refund(ctx context.Context, charges []ratelimit.Charge) error {
	if err := cmp.Or(ctx.Err(), ratelimit.CheckCharges(charges), ratelimit.CheckHolders(charges)); err != nil {
		return err
	}
	var array [inline]visit
	visits := visitsOf(charges, array[:0])
	now, shards := s.lock(visits)
	var lost *ratelimit.Charge
	for i := range visits {
		v := &visits[i]
		if v.charge.Cost == 0 {
			continue
		}
		v.limit.patience = longest
		v.open(now)
		if !v.refund(now) {
			lost = v.charge
		}
		if v.bucket.used > 0 {
			v.reset = v.bucket.reset(now, &v.limit)
			v.save(now)
			v.touch()
		} else {
			v.remove()
		}
	}
	s.unlock(shards, now)
	if lost != nil {
		return fmt.Errorf("memlimit: refund: %s of %q: %w", lost.Name, lost.Key, ratelimit.ErrLeaseLost)
	}
	return nil
}

// Renew implements [ratelimit.Renewer]. Besides the error of [ratelimit.CheckRenewal] it returns that of ctx, and what [MaxKeys] says.
func (s *Store) Renew(ctx context.Context, charges []ratelimit.Charge, held []bool) error {
	if err := cmp.Or(ctx.Err(), ratelimit.CheckRenewal(charges, held)); err != nil {
		return err
	}
	var array [inline]visit
	visits := visitsOf(charges, array[:0])
	now, shards := s.lock(visits)
	for i := range visits {
		v := &visits[i]
		v.open(now) // one by one: several may be of one bucket
		held[i] = v.bucket.held(v.charge.Holder, v.charge.Cost) == v.charge.Cost
		if held[i] && v.charge.Cost > 0 {
			v.bucket = v.bucket.charged(v.charge, now, &v.limit)
			v.reset = v.bucket.reset(now, &v.limit)
			v.save(now)
			v.touch()
		}
	}
	s.unlock(shards, now)
	return nil
}

// Reset implements [ratelimit.Store]. Besides the error of [ratelimit.CheckCharges] it returns that of ctx, and what [MaxKeys] says.
func (s *Store) Reset(ctx context.Context, charges []ratelimit.Charge) error {
	if err := cmp.Or(ctx.Err(), ratelimit.CheckCharges(charges)); err != nil {
		return err
	}
	var array [inline]visit
	visits := visitsOf(charges, array[:0])
	now, shards := s.lock(visits)
	for i := range visits {
		visits[i].open(now)
		visits[i].remove()
	}
	s.unlock(shards, now)
	return nil
}

// Len returns how many buckets are kept, those that are as new and not yet swept included.
func (s *Store) Len() int {
	n := 0
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		n += sh.len
		sh.mu.Unlock()
	}
	return n
}

// inline is how many visits are kept on the stack.
const inline = 4

// lock locks the shards of the visits, in an order that all calls share, and returns the time, and the shards as bits. Time is
// read before that, so that nobody waits for the clock. If the call is overtaken then, its time is that of those before
// it: no bucket is decided at a time before that of the state it is in.
func (s *Store) lock(visits []visit) (now int64, shards uint64) {
	for i := range visits {
		v := &visits[i]
		h := s.hash(v.charge)
		n := s.shardOf(h)
		v.hash, v.shard = uint32(h>>32), &s.shards[n]
		shards |= 1 << n
	}
	now = s.now()
	for m := shards; m != 0; m &= m - 1 {
		sh := &s.shards[bits.TrailingZeros64(m)]
		sh.mu.Lock()
		now = max(now, sh.now)
	}
	for m := shards; m != 0; m &= m - 1 {
		s.shards[bits.TrailingZeros64(m)].now = now
	}
	return now, shards
}

// shardOf returns in which shard the bucket of a hash is.
func (s *Store) shardOf(hash uint64) uint64 { return hash & uint64(len(s.shards)-1) }

// epochOf returns a wall clock's time in microseconds since 1970. That of a device without a battery may be before that,
// where no shard has ever been.
func epochOf(base time.Time) int64 { return max(0, base.UnixMicro()) }

// now returns the time in microseconds since 1970.
func (s *Store) now() int64 { return s.epoch + time.Since(s.base).Microseconds() }

// hash returns the hash of a charge's bucket. Callers have no say in the names of limits: those that are alike in length and
// at both ends share a hash for each key.
func (s *Store) hash(c *ratelimit.Charge) uint64 {
	h := maphash.Bytes(s.seed, c.Key)
	mark := uint64(c.Limit.Algorithm)
	if n := len(c.Name); n > 0 {
		mark |= uint64(n)<<24 | uint64(c.Name[0])<<16 | uint64(c.Name[n-1])<<8
	}
	const spread = 0x9e3779b97f4a7c15 // 2^64 / the golden ratio
	return h ^ mark*spread
}

// unlock unlocks the shards, and sweeps another now and then.
func (s *Store) unlock(shards uint64, now int64) {
	first, sweep := 0, uint32(0)
	for m := shards; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		sh := &s.shards[i]
		if n := sh.owe(s.busy.Load() > 0); n > 0 {
			first, sweep = i, n
		}
		sh.mu.Unlock()
	}
	if sweep > 0 {
		s.sweep(first, sweep, now)
	}
}

// sweep looks at records of the n-th shard after the first.
func (s *Store) sweep(first int, n uint32, now int64) {
	sh := &s.shards[s.shardOf(uint64(first)+uint64(n))]
	if !sh.mu.TryLock() { // one that is busy comes next time
		return
	}
	removed := sh.sweep(now)
	sh.mu.Unlock()
	switch busy := s.busy.Load(); {
	case removed > 0 && busy < calmSweeps:
		s.busy.Store(calmSweeps)
	case removed == 0 && busy > 0:
		s.busy.Store(busy - 1)
	}
}
