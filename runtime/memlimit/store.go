// Package memlimit keeps buckets in the memory of one process: for development, for tests, and for services that run as
// one instance. Several processes share buckets through package redislimit, whose answers are the same.
package memlimit

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

const (
	// maxShards is how many locks the buckets are spread over: well above the number of cores, so that calls on different
	// buckets rarely meet. A call's shards are the bits of a uint64.
	maxShards = 64
	// Each sweepEvery-th call of a shard looks at the next sweepEntries entries of another. Two entries a call are
	// more than the one that a call may add, so that what has expired leaves as fast as anything comes.
	sweepEvery   = 16
	sweepEntries = 32
)

// Store is a [ratelimit.Store] that keeps its buckets in memory. Make one by [New]. It is safe for concurrent use and
// runs no goroutine, so that there is nothing to close.
//
// Time is the monotonic clock's, in microseconds: setting the wall clock does nothing to a Store that was made before. A
// bucket is kept until it is as new, and is forgotten a little later: each call sweeps a few of those whose time has
// come, of any key. A process without calls sweeps nothing. How many buckets there can be is for [MaxKeys] to say.
type Store struct {
	base    time.Time
	epoch   int64 // base in microseconds since 1970
	seed    maphash.Seed
	maxKeys int           // the most buckets, or unlimited
	share   int           // the least of it that a shard has
	swept   atomic.Uint32 // counts the shards that were swept
	shards  []shard       // their number is a power of two
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
	s := &Store{base: base, epoch: base.UnixMicro(), seed: maphash.MakeSeed(), maxKeys: unlimited}
	for _, opt := range opts {
		opt.apply(s)
	}
	s.shards = make([]shard, shardsFor(s.maxKeys))
	s.share = s.maxKeys / len(s.shards)
	for i := range s.shards {
		s.shards[i].index = make(map[string]int32)
	}
	if s.maxKeys != unlimited {
		s.divide()
	}
	return s
}

// Take implements [ratelimit.Store]. Besides the errors of [ratelimit.CheckDecision] and [ratelimit.CheckHolders] it
// returns that of ctx, and what [MaxKeys] says.
func (s *Store) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if err := cmp.Or(ctx.Err(), ratelimit.CheckDecision(charges, results), ratelimit.CheckHolders(charges)); err != nil {
		return err
	}
	if len(charges) > s.share {
		return s.noRoom(charges)
	}
	var array [inline]visit
	var bytes [inlineNames]byte
	visits, names, shards := s.plan(charges, array[:0], bytes[:0])
	now := s.lock(shards)

	refused, missing := false, false
	for i := range visits {
		v := &visits[i]
		v.decide(names, now)
		refused = refused || v.retry != 0
	}
	for i := range visits {
		v := &visits[i]
		take := !refused && v.charge.Cost > 0
		if take {
			v.bucket = v.bucket.charged(v.charge, now, &v.limit)
		}
		v.reset = v.bucket.reset(now, &v.limit)
		results[i] = v.result(now)
		switch {
		case take && v.index < 0:
			missing = true
		case take:
			v.save(now)
		case refused:
			v.extend(now)
		}
		v.touch()
	}
	if missing {
		addMissing(visits, names, now)
	}

	s.unlock(shards, now)
	return nil
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
	var bytes [inlineNames]byte
	visits, names, shards := s.plan(charges, array[:0], bytes[:0])
	now := s.lock(shards)
	for i := range visits {
		v := &visits[i]
		v.decide(names, now)
		v.reset = v.bucket.reset(now, &v.limit)
		results[i] = v.result(now)
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
	var bytes [inlineNames]byte
	visits, names, shards := s.plan(charges, array[:0], bytes[:0])
	now := s.lock(shards)
	var lost *ratelimit.Charge
	for i := range visits {
		v := &visits[i]
		if v.charge.Cost == 0 {
			continue
		}
		v.limit.patience = longest
		v.open(names, now)
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
	var bytes [inlineNames]byte
	visits, names, shards := s.plan(charges, array[:0], bytes[:0])
	now := s.lock(shards)
	for i := range visits {
		v := &visits[i]
		v.open(names, now) // one by one: several may be of one bucket
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
	var bytes [inlineNames]byte
	visits, names, shards := s.plan(charges, array[:0], bytes[:0])
	now := s.lock(shards)
	for i := range visits {
		visits[i].open(names, now)
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
		n += len(sh.entries)
		sh.mu.Unlock()
	}
	return n
}

// What fits into these is planned on the stack, and so in each method: arrays that a helper keeps for it would be on the
// heap.
const (
	inline      = 4
	inlineNames = 128
)

// plan returns a visit for each charge, appended to visits, which is empty and zero, the buckets' names, appended to
// names, and the set of their shards.
func (s *Store) plan(charges []ratelimit.Charge, visits []visit, names []byte) ([]visit, []byte, uint64) {
	var shards uint64
	visits = slices.Grow(visits, len(charges))[:len(charges)]
	for i := range charges {
		c, v := &charges[i], &visits[i]
		v.start = len(names)
		names = append(names, byte(c.Limit.Algorithm))
		names = binary.AppendUvarint(names, uint64(len(c.Name)))
		names = append(names, c.Name...)
		names = append(names, c.Key...)
		v.end = len(names)
		n := maphash.Bytes(s.seed, names[v.start:]) & uint64(len(s.shards)-1)
		shards |= 1 << n
		v.charge, v.shard, v.limit = c, &s.shards[n], limitOf(c)
	}
	return visits, names, shards
}

// lock locks a set of shards, in an order that all calls share, and returns the time. Time is read under the locks:
// otherwise a call that waited for them could be decided at a time before that of the bucket that it finds.
func (s *Store) lock(shards uint64) (now int64) {
	for m := shards; m != 0; m &= m - 1 {
		s.shards[bits.TrailingZeros64(m)].mu.Lock()
	}
	return s.epoch + time.Since(s.base).Microseconds()
}

func (s *Store) unlock(shards uint64, now int64) {
	sweep := false
	for m := shards; m != 0; m &= m - 1 {
		sh := &s.shards[bits.TrailingZeros64(m)]
		sh.calls++
		sweep = sweep || sh.calls%sweepEvery == 0
		sh.mu.Unlock()
	}
	if !sweep {
		return
	}
	sh := &s.shards[s.swept.Add(1)&uint32(len(s.shards)-1)]
	if sh.mu.TryLock() { // one that is busy comes next time
		sh.sweep(now, sweepEntries)
		sh.mu.Unlock()
	}
}
