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
// as many as keys are in use, and so no end of them where callers can make keys up. Leave room for all that are in honest
// use, a bucket for each limit of each.
//
// When a new bucket needs the place of another, one that is as new goes first, always: to forget it changes nothing. Only
// if there is none, one that still counts is forgotten, and whoever it is of begins anew: the least recently used of those
// whose last call left something; if there is none either, of those that hold callers back; and last, of those of
// [ratelimit.Concurrency] with slots that are held, which are then lost. [Store.Evicted] counts them.
//
// Buckets are spread over up to 64 parts, which share n equally, 1024 or more each, and of which each forgets its own:
// below 2048 there is only one. All buckets of a call must find room in one part, or the call is an error that matches
// [ratelimit.ErrMisconfigured]. With n below 1 this is so for each call.
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
	share, more := s.maxKeys/len(s.shards), s.maxKeys%len(s.shards)
	for i := range s.shards {
		if i < more {
			s.shards[i].room = newRoom(share + 1)
		} else {
			s.shards[i].room = newRoom(share)
		}
	}
}

// fits returns an error unless there is room for the buckets of one call, wherever they lie.
func (s *Store) fits(charges []ratelimit.Charge) error {
	if share := s.maxKeys / len(s.shards); len(charges) > share {
		return fmt.Errorf("memlimit: %w: MaxKeys leaves room for %d of the %d buckets of a call", ratelimit.ErrMisconfigured, share, len(charges))
	}
	return nil
}
