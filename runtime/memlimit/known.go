package memlimit

import (
	"math/bits"
	"sync/atomic"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// known are limits that calls came with, of which a process has few. One that was found valid is not looked at again, and
// is at hand in the units of the arithmetic. One that finds no place here is checked and computed by each of its calls.
type known [1 << knownBits]atomic.Pointer[knownLimit]

type knownLimit struct {
	given ratelimit.Limit
	limit limit
}

const (
	knownBits   = 10
	knownPlaces = 8 // that a limit can have
)

// find returns a limit, or nil if it is not known.
func (k *known) find(given *ratelimit.Limit) *limit {
	first := firstPlace(given)
	for i := range uint64(knownPlaces) {
		switch l := k[(first+i)%uint64(len(k))].Load(); {
		case l == nil:
			return nil
		case l.is(given):
			return &l.limit
		}
	}
	return nil
}

// add makes a valid limit known if there is a place for it.
func (k *known) add(given *ratelimit.Limit) {
	first := firstPlace(given)
	for i := range uint64(knownPlaces) {
		place := &k[(first+i)%uint64(len(k))]
		if place.Load() == nil {
			place.CompareAndSwap(nil, &knownLimit{given: *given, limit: limitOf(given)})
		}
		if place.Load().is(given) { // whoever was first
			return
		}
	}
}

// is reports whether two limits are the same. The compiler would make a call of it.
func (l *knownLimit) is(given *ratelimit.Limit) bool {
	return l.given.Count == given.Count && l.given.Period == given.Period && l.given.Algorithm == given.Algorithm &&
		l.given.Burst == given.Burst && l.given.Refill == given.Refill
}

func firstPlace(l *ratelimit.Limit) uint64 {
	h := uint64(l.Algorithm)<<8 + uint64(l.Refill) + uint64(l.Count) + bits.RotateLeft64(uint64(l.Period), 24) + bits.RotateLeft64(uint64(l.Burst), 44)
	const spread = 0x9e3779b97f4a7c15 // 2^64 / the golden ratio: what differs anywhere differs at the top
	return h * spread >> (64 - knownBits)
}
