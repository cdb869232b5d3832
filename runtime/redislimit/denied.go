package redislimit

import (
	"errors"
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

const (
	// defaultDenied is how many refused calls a Store remembers by default: some 16 MB of them.
	defaultDenied = 65_536
	// maxDenied bounds what DenyCache can be set to. The room for that many, without what is in it, takes 128 MB.
	maxDenied = 1 << 24
	// waysDenied is how many calls there is room for in a set, which are all that have to be looked at for one.
	waysDenied = 8
	// longestDenied is the longest that a refusal is believed before the server is asked again, which then costs next to
	// nothing. What it cannot know of, such as a reset by somebody else or a server that has lost its data, is seen after
	// that. So long, clocks that run at rates of a millionth apart are apart by 60 us.
	longestDenied = time.Minute
	// unsettled is for how long a refund whose reply is missing may still be on its way.
	unsettled = time.Minute
)

// DenyCache is how many refused calls the Store remembers. The default is 65,536, which take some 16 MB if there are so
// many; 0 or less turns it off. Whoever is refused by one of them is refused from memory until its RetryAfter has passed,
// for a minute at most, and only then is Redis asked again: an attack costs Redis little more than its first call.
//
// It refuses nobody whom Redis would admit then. Until its RetryAfter a bucket can only become fuller, other than by
// [Store.Refund] and [Store.Reset]. Those of this Store are taken into account. Of others it hears when it asks again, as
// of data that the server has lost, and of a server's clock that was set: leave it off where time is set, as in tests by
// the SetTime of miniredis. Not remembered, and never answered from memory, are calls that a [ratelimit.Concurrency] limit
// refuses, of which a slot may come back at any time, charges with a Wait or [ratelimit.Charge.Fresh], calls whose cost is
// above the capacity, calls that only look, and in a Cluster or Ring calls for several Keys, which may be refunded.
//
// The same call, or one that costs more, gets the results of the remembered one. RetryAfter and ResetAfter of the limits
// that refuse are exact if nobody else was admitted since, and Remaining is 0 for a cost of 1. For a higher cost it is what
// was left then, and may have become more; and a call that costs more than the remembered one can be told to come back
// too soon, but not too late. Limits of the call that did not refuse it are where they stood then.
//
// A limit that is changed is not refused by what the former one was. When there are more calls, those whose refusal would
// have ended first make room.
func DenyCache(calls int) Option {
	return optionFunc(func(s *Store) { s.denied.most = min(calls, maxDenied) })
}

// denials are the calls that were refused and, until their RetryAfter has passed, still would be. The zero value remembers
// nothing.
//
// A call is remembered under the bucket that refuses it for longest: the set that it is in goes by that one's hash. To read
// takes no lock. What is written is a new denial, under the lock of its set. Nothing is removed by time alone: a denial
// that is over makes room for the next one of its set.
type denials struct {
	most int // how many there is room for
	seed maphash.Seed
	born time.Time // when their clock, which nobody can set, began
	sets []denialSet
}

type denialSet struct {
	mu     sync.Mutex
	closed time.Duration // what was asked at this time or earlier is not remembered any more
	ways   []atomic.Pointer[denial]
}

// open makes room.
func (d *denials) open() {
	if d.most <= 0 {
		return
	}
	d.seed, d.born = maphash.MakeSeed(), time.Now()
	ways := make([]atomic.Pointer[denial], d.most)
	d.sets = make([]denialSet, (d.most+waysDenied-1)/waysDenied)
	for i := range d.sets {
		n := min(waysDenied, len(ways))
		d.sets[i].ways, ways = ways[:n:n], ways[n:]
	}
}

// answer fills the results of a call that is known to be refused. For one that is not, it returns when Redis is asked, for
// learn.
func (d *denials) answer(charges []ratelimit.Charge, results []ratelimit.Result) (asked time.Duration, known bool) {
	if d.sets == nil {
		return 0, false
	}
	now := time.Since(d.born)
	for i := range charges {
		if charges[i].Limit.Algorithm == ratelimit.Concurrency {
			continue
		}
		set, hash := d.find(&charges[i])
		for j := range set.ways {
			if e := set.ways[j].Load(); e != nil && e.hash == hash && e.at == i && now < e.ends && e.holds(charges) {
				e.fill(results, now)
				return now, true
			}
		}
	}
	return now, false
}

// learn takes note of what Redis has answered to a call, and of when it was asked.
func (d *denials) learn(asked time.Duration, charges []ratelimit.Charge, results []ratelimit.Result) {
	switch at, lasts := certain(charges, results); {
	case d.sets == nil:
	case at >= 0:
		set, hash := d.find(&charges[at])
		set.keep(newDenial(hash, asked, asked+lasts, at, charges, results))
	case !refused(results):
		d.admit(charges)
	}
}

// admit drops what is remembered of buckets that have admitted a call.
func (d *denials) admit(charges []ratelimit.Charge) {
	if d.sets == nil {
		return
	}
	now := time.Since(d.born)
	for i := range charges {
		if charges[i].Cost > 0 {
			d.drop(&charges[i], now)
		}
	}
}

// forget drops what is remembered of buckets that were refunded or reset. Unless that is settled, nothing of what is asked
// for a while is remembered either.
func (d *denials) forget(charges []ratelimit.Charge, settled bool) {
	if d.sets == nil {
		return
	}
	until := time.Since(d.born)
	if !settled {
		until += unsettled
	}
	for i := range charges {
		d.drop(&charges[i], until)
	}
}

func (d *denials) drop(c *ratelimit.Charge, until time.Duration) {
	if c.Limit.Algorithm != ratelimit.Concurrency { // nothing is under the bucket of one
		set, hash := d.find(c)
		set.drop(c, hash, until)
	}
}

// isSettled reports whether a command that ended so will have no effect later on.
func isSettled(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return !ok || e.Kind != KindTimeout && e.Kind != KindCanceled && e.Kind != KindConnection && e.Kind != KindReply
}

// find returns the set that a call is in which the bucket of that charge refuses, and the bucket's hash.
func (d *denials) find(c *ratelimit.Charge) (*denialSet, uint64) {
	hash := maphash.Bytes(d.seed, c.Key) ^ bits.RotateLeft64(maphash.String(d.seed, c.Name), int(c.Limit.Algorithm)+1)
	i, _ := bits.Mul64(hash, uint64(len(d.sets))) // evenly below that
	return &d.sets[i], hash
}

// keep puts a denial in the place of an older one of the same call, of one that is over, or of the one that would be over
// first: ever new calls drive each other out, and those that are refused for long stay.
func (s *denialSet) keep(e *denial) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.asked <= s.closed {
		return
	}
	place, soonest := 0, time.Duration(-1)
	for i := range s.ways {
		old, ends := s.ways[i].Load(), time.Duration(0)
		if old != nil && e.replaces(old) {
			place = i
			break
		}
		if old != nil {
			ends = old.ends
		}
		if soonest < 0 || ends < soonest {
			place, soonest = i, ends
		}
	}
	s.ways[place].Store(e)
}

// drop removes the calls that are remembered under the bucket of a charge, and closes the set to those that were asked
// until then.
func (s *denialSet) drop(c *ratelimit.Charge, hash uint64, until time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = max(s.closed, until)
	for i := range s.ways {
		if e := s.ways[i].Load(); e != nil && e.hash == hash && e.standings[e.at].isOf(c) {
			s.ways[i].Store(nil)
		}
	}
}
