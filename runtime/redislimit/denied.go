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
	// largestDenied is how many bytes a call may take to be remembered: those of three limits by the longest identities do.
	largestDenied = 1024
	// waysDenied is how many calls there is room for in a set, which are all that have to be looked at for one.
	waysDenied = 8
	// longestDenied is the longest that a refusal is believed before the server is asked again, which then costs next to
	// nothing: so much later at most it is seen that somebody else has reset the bucket, or that the server has lost its data.
	// After a minute two clocks of which NTP corrects one as fast as it does are 30 ms apart.
	longestDenied = time.Minute
	// unsettled is for how long a refund whose reply is missing may still be on its way.
	unsettled = time.Minute
)

// DenyCache is how many refused calls the Store remembers. The default is 65,536, which take some 16 MB if there are so
// many of one limit each; 0 or less turns it off. A call that would take more than a kilobyte, as one of many limits, is not
// remembered. The same call, or one that costs more, is refused from memory until its RetryAfter has
// passed, but for a minute at most, and only then is Redis asked again: an attack costs it little more than the first call.
//
// Until its RetryAfter a bucket has room for the call only by a Refund or Reset. Those of this Store are known at once, and a
// limit that is changed has refused nobody yet: so far nobody is refused whom Redis would admit at that moment. Those of other
// processes, limits that others have changed, and data that the server has lost are seen when Redis is asked again, after a
// minute at most. So who shares a bucket with calls of other processes whose units may come back is refused for longer than
// need be, in two cases. One is a bucket to which some calls give units back and others do not know: of methods in two packages,
// of which one has refund or wait or takes in advance and the other does not, as what is generated for a package knows of no
// other; of two builds of a program, while one that adds such an attribute is rolled out; of a [ratelimit.Rule] that does not
// say that its limit Refunds; or of a method whose limit with the wait is out of force by overrides in only some processes.
// The refusals of those who do not know are remembered. The way out is the same attributes on all, or DenyCache(0). The other is
// a bucket of a Cluster or Ring, of one Key, that calls for several Keys charge as well: where another Key refuses, what they
// took comes back. The way out is DenyCache(0).
//
// Refusals are remembered only while the server's clock is seen to run as this process's does: since replies a second
// apart have agreed on how far it is ahead, to 50 ms and what they took. So none is in the first second, nor by a clock
// that stands still or that a test moves, as by the SetTime of miniredis, unless it moves it for a second about as fast as
// time passes: for such tests, too, there is DenyCache(0). With the first reply that disagrees, as after the
// clock was set, or a failover to a server with another one, all of them are forgotten and the second begins anew. Where
// the servers of a Cluster or Ring disagree with each other, next to nothing is remembered.
//
// Redis is always asked about charges with a Wait or [ratelimit.Charge.Fresh], calls that only look, costs above the
// capacity, calls that a [ratelimit.Concurrency] limit refuses, of which a slot may come back at any time, and in a Cluster
// or Ring calls for several Keys, which may be refunded. Fresh are the limits to whose buckets units may be given back, see
// [ratelimit.Rule.Refunds], those with a prefetch, and all of a method that has one with wait, or with refund and none of
// concurrency.
//
// Of the limit that refuses for longest, RetryAfter and ResetAfter are exact if nobody else has been admitted since, and so
// is Remaining, 0, for a cost of 1. For a higher cost as much remains as before, or more by now; and one that is higher
// than that of the remembered call may be told to come back too soon, never too late. The other limits of the call are as
// they were then, less the time. An outage changes nothing about what is known.
//
// Where there is no room for another call, the one whose refusal ends first is forgotten.
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
	pace atomic.Pointer[pace] // of the server's clock beside the sender's; nil before the first reply
	sets []denialSet
	kept atomic.Int64 // how many calls are in the sets: mostly none, and then there is nothing to look for
}

type denialSet struct {
	mu     sync.Mutex
	closed atomic.Int64 // what was asked at this time, a Duration, or earlier is not remembered any more
	ways   []atomic.Pointer[denial]
}

// open makes room.
func (d *denials) open() {
	if d.most <= 0 {
		return
	}
	d.seed = maphash.MakeSeed()
	ways := make([]atomic.Pointer[denial], d.most)
	d.sets = make([]denialSet, (d.most+waysDenied-1)/waysDenied)
	for i := range d.sets {
		n := min(waysDenied, len(ways))
		d.sets[i].ways, ways = ways[:n:n], ways[n:]
	}
}

// answer fills the results of a call that is known to be refused, and reports whether it is. All times are by the sender's
// clock.
func (d *denials) answer(now time.Duration, charges []ratelimit.Charge, results []ratelimit.Result) bool {
	p := d.pace.Load()
	if !p.isSteady() || d.kept.Load() == 0 {
		return false
	}
	for i := range charges {
		if charges[i].Limit.Algorithm == ratelimit.Concurrency {
			continue
		}
		set, hash := d.find(&charges[i])
		for j := range set.ways {
			if e := set.ways[j].Load(); e != nil && e.hash == hash && e.at == i && e.pace == p && now < e.ends && e.known.Load() && e.holds(charges) {
				e.fill(results, now)
				return true
			}
		}
	}
	return false
}

// learn takes note of what Redis has answered to a call that was asked at one time and answered by another.
func (d *denials) learn(asked, answered time.Duration, charges []ratelimit.Charge, results []ratelimit.Result) {
	p := d.watch(asked, answered, results)
	switch at, lasts := certain(charges, results); {
	case d.sets == nil:
	case at >= 0 && p.isSteady() && sizeOf(charges) <= largestDenied:
		set, hash := d.find(&charges[at])
		set.keep(newDenial(hash, p, asked, asked+lasts, at, charges, results), &d.kept)
	case !refused(results):
		d.admit(answered, charges)
	}
}

// learnOfGroups is learn for a call of several groups, of which a refusal is not remembered: units that others took for one
// may be given back.
func (d *denials) learnOfGroups(asked, answered time.Duration, charges []ratelimit.Charge, results []ratelimit.Result) {
	if d.watch(asked, answered, results); !refused(results) {
		d.admit(answered, charges)
	}
}

// admit drops what is remembered of buckets that have admitted a call by now, and has nothing remembered that was asked before: by
// another limit than that of a refusal, which may be on its way, a bucket may have become emptier. It takes no lock unless there
// is something to be dropped: a refusal that it does not see is one that sees that its set is closed, see keep.
func (d *denials) admit(now time.Duration, charges []ratelimit.Charge) {
	if d.sets == nil {
		return
	}
	for i := range charges {
		c := &charges[i]
		if c.Cost == 0 || c.Limit.Algorithm == ratelimit.Concurrency {
			continue
		}
		set, hash := d.find(c)
		if set.close(now); d.kept.Load() > 0 && set.has(hash) {
			set.drop(c, hash, now, &d.kept)
		}
	}
}

// forget drops what is remembered of buckets that were refunded or reset. Unless that is settled, nothing of what is asked
// for a while is remembered either.
func (d *denials) forget(now time.Duration, charges []ratelimit.Charge, settled bool) {
	if d.sets == nil {
		return
	}
	until := now
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
		set.drop(c, hash, until, &d.kept)
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
func (s *denialSet) keep(e *denial, kept *atomic.Int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.asked <= time.Duration(s.closed.Load()) {
		return
	}
	place, soonest := 0, time.Duration(-1)
	for i := range s.ways {
		old, ends := s.ways[i].Load(), time.Duration(0)
		if old != nil && e.replaces(old) {
			place = i
			break
		}
		if old != nil && old.pace == e.pace { // or the denial is over, however long it was to be
			ends = old.ends
		}
		if soonest < 0 || ends < soonest {
			place, soonest = i, ends
		}
	}
	if s.ways[place].Swap(e) == nil {
		kept.Add(1)
	}
	if e.asked <= time.Duration(s.closed.Load()) { // meanwhile, by an admit that has perhaps not seen it
		s.ways[place].Store(nil)
		kept.Add(-1)
		return
	}
	e.known.Store(true) // each admit from now on does see it
}

// close has nothing remembered any more that was asked until then.
func (s *denialSet) close(until time.Duration) {
	for {
		old := s.closed.Load()
		if old >= int64(until) || s.closed.CompareAndSwap(old, int64(until)) {
			return
		}
	}
}

// has reports whether there may be calls that are remembered under a bucket with that hash.
func (s *denialSet) has(hash uint64) bool {
	for i := range s.ways {
		if e := s.ways[i].Load(); e != nil && e.hash == hash {
			return true
		}
	}
	return false
}

// drop removes the calls that are remembered under the bucket of a charge, and closes the set to those that were asked
// until then.
func (s *denialSet) drop(c *ratelimit.Charge, hash uint64, until time.Duration, kept *atomic.Int64) {
	s.close(until)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.ways {
		if e := s.ways[i].Load(); e != nil && e.hash == hash && e.standings[e.at].isOf(c) {
			s.ways[i].Store(nil)
			kept.Add(-1)
		}
	}
}
