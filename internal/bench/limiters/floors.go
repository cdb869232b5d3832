package limiters

import (
	"context"
	"hash/maphash"
	"sync/atomic"
	"testing"
	"time"
)

// Clock only reads the clock, as the difference to an earlier reading. Each decision has to, at least once.
func Clock(testing.TB, Setting) Limiter {
	start := time.Now()
	return Ask(func(context.Context, int) (bool, error) { return time.Since(start) >= 0, nil })
}

// WallClock only reads the wall clock and the monotonic one.
func WallClock(testing.TB, Setting) Limiter {
	return Ask(func(context.Context, int) (bool, error) { return !time.Now().IsZero(), nil })
}

// OneBucket is a bucket without a key: GCRA on an atomic integer.
func OneBucket(_ testing.TB, s Setting) Limiter {
	var bucket gcra
	start, pace := time.Now(), paceOf(s.Quota)
	return Ask(func(context.Context, int) (bool, error) { return bucket.take(time.Since(start), pace), nil })
}

// Table is a table of slots of 16 bytes, each with the hash of a key and an atomic bucket. It never grows and never forgets,
// keys whose hashes are equal share a bucket, and a full table never ends looking: less than this no limiter can do that
// has one bucket for each key.
func Table(_ testing.TB, s Setting) Limiter {
	size := 64
	for size < 2*s.Keys.Len() {
		size *= 2
	}
	seed, slots := maphash.MakeSeed(), make([]slot, size)
	start, pace := time.Now(), paceOf(s.Quota)
	return Ask(func(_ context.Context, key int) (bool, error) {
		var buffer [keySize]byte
		hash := max(maphash.Bytes(seed, s.Keys.Bytes(buffer[:], key)), 1)
		for i := hash; ; i++ {
			slot := &slots[i&uint64(size-1)]
			at := slot.hash.Load()
			if at == 0 && slot.hash.CompareAndSwap(0, hash) {
				at = hash
			} else if at == 0 {
				at = slot.hash.Load()
			}
			if at == hash {
				return slot.bucket.take(time.Since(start), pace), nil
			}
		}
	})
}

type slot struct {
	hash   atomic.Uint64 // 0: nobody's
	bucket gcra
}

// pace is a quota as GCRA has it.
type pace struct{ interval, tolerance int64 } // ns

func paceOf(q Quota) pace {
	interval := int64(q.Period) / q.Count
	return pace{interval, interval * (q.Burst - 1)}
}

// gcra is when the bucket is as new, in nanoseconds.
type gcra struct{ arrival atomic.Int64 }

func (g *gcra) take(since time.Duration, p pace) bool {
	for now := int64(since); ; {
		old := g.arrival.Load()
		arrival := max(old, now)
		if arrival-now > p.tolerance {
			return false
		}
		if g.arrival.CompareAndSwap(old, arrival+p.interval) {
			return true
		}
	}
}
