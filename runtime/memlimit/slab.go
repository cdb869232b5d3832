package memlimit

import (
	"math/bits"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// slab holds the records of one kind, which have the same room for their names. They lie close together: the last one takes
// the place of any that leaves.
type slab struct {
	records array[byte]
	details array[*detail] // of the kinds that have them, each at its record's index
	places  array[place]   // of a bounded shard, likewise
}

// kind says how much room a record has, in steps of a quarter of a power of two, and in its lowest bit whether its bucket
// has a detail. A record of 2^32 bytes would be of one below 256.
type kind uint8

const (
	step     = 16 // bytes
	minSteps = 4  // of a record
	maxSlab  = 1 << 24
)

// kindOf returns the kind of the record of a charge's bucket.
func kindOf(c *ratelimit.Charge) kind {
	n := max(minSteps, (sizeOf(c)+step-1)/step)
	doublings := bits.Len(uint(n / (2 * minSteps)))
	n = (n + 1<<doublings - 1) >> doublings // minSteps to 2 × minSteps
	k := kind(doublings*minSteps+n-minSteps) << 1
	if detailed(c.Limit.Algorithm) {
		k++
	}
	return k
}

// size returns the bytes of a record.
func (k kind) size() uint {
	n := uint(k >> 1)
	return (minSteps + n%minSteps) << (n / minSteps) * step
}

func (k kind) detailed() bool { return k&1 != 0 }

// ref is where a record lies in its shard: its kind in the highest byte, and its index in the slab of that, which has
// maxSlab of them at most. 0 is no record.
type ref uint32

func refTo(k kind, i uint) ref { return ref(k)*maxSlab + ref(i) + 1 }

func (at ref) kind() kind  { return kind((at - 1) / maxSlab) }
func (at ref) index() uint { return uint((at - 1) % maxSlab) }
