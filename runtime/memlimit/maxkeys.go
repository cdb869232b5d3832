package memlimit

import (
	"fmt"
	"math"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

const (
	unlimited = math.MaxInt
	// minShare is how many buckets a shard has room for at least, or there are fewer shards: chance fills shares as large
	// as this about equally.
	minShare = 1024
)

// MaxKeys bounds the number of buckets that the Store keeps: [Store.Len] is n at most, at any time. Without it there are
// as many as keys are in use, of which there is no end where callers can make them up. Choose n well above the number of
// honest keys, each with a bucket for each of its limits.
//
// A new bucket that finds no room takes the place of another. One that is as new is forgotten first, always, since that
// changes nothing. Only if there is none, one that still counts is forgotten: the least recently used of those whose last
// call left something; if there is none of these, of those that hold callers back; and only then of those of
// [ratelimit.Concurrency] whose slots are held, and so lost. [Store.Evicted] counts the buckets that still counted.
//
// The buckets are spread over up to 64 parts with equal shares of n, of at least 1024, and each part forgets its own. With n
// below 2048 there is one part. The buckets of a call must find room together in any part, or the call is an error that
// matches [ratelimit.ErrMisconfigured]; with n below 1 that is every call.
func MaxKeys(n int) Option {
	return optionFunc(func(s *Store) { s.maxKeys = max(0, n) })
}

// Evicted returns how many buckets were forgotten although they still counted, for want of room, see [MaxKeys]. If the
// number grows steadily, more keys are in use than there is room for, or someone makes them up.
func (s *Store) Evicted() uint64 {
	var n uint64
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		n += sh.evicted
		sh.mu.Unlock()
	}
	return n
}

// shardsFor returns how many shards there are.
func shardsFor(maxKeys int) int {
	n := maxShards
	for n > 1 && maxKeys/n < minShare {
		n /= 2
	}
	return n
}

// divide gives each shard its share of the room.
func (s *Store) divide() {
	more := s.maxKeys % len(s.shards)
	for i := range s.shards {
		if i < more {
			s.shards[i].room = newRoom(s.share + 1)
		} else {
			s.shards[i].room = newRoom(s.share)
		}
	}
}

// noRoom is the error of a call for whose buckets there may not be room, depending on where they lie.
func (s *Store) noRoom(charges []ratelimit.Charge) error {
	return fmt.Errorf("memlimit: %w: MaxKeys leaves room for %d of the %d buckets of a call", ratelimit.ErrMisconfigured, s.share, len(charges))
}
