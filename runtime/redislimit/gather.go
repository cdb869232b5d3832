package redislimit

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

const (
	// maxFlights is how many exchanges are under way at a server, unless it is far away.
	maxFlights = 4
	// farFlights is how many they are then. A server that gets full batches all at once has to do with them for some 10 ms.
	farFlights = 32
	// manyCalls is how many calls are so many that further ones had better wait for an exchange to land, and go together.
	manyCalls = 8
	// longAgo is how long after an exchange has departed another one may, though there are many: if none has landed by then,
	// the server is far away, and not busy with it.
	longAgo = time.Millisecond
	// farAway is the same where there are many exchanges, and how often it is seen to. A server that is near, on a machine that
	// is busy with others, may be silent for some milliseconds, and then had better not get much at once.
	farAway = 5 * time.Millisecond
	// maxAsks is how many asks make up a batch. They hold up a server, and so everybody, for about 0.2 ms.
	maxAsks = 64
	// maxWork is how much work they may be, as [ask.work] has it: a call for many buckets, or many slots, takes longer. One that is
	// more work goes by itself.
	maxWork = 256
	// slotWork is how many buckets take as long as a slot of a concurrency.
	slotWork = 4
	// maxWaiting is how many calls may wait for their batch to depart. More than these a server can hardly decide within
	// the default [Timeout].
	maxWaiting = 1 << 15
)

// gatherer gathers the calls of Take for a server. One that finds none under way goes at once, and so do some more while
// there are few. Those that come while there are many make up a batch, which departs as soon as an exchange lands, when it
// is full, or when none has departed for long, as the server is far away: no call waits for others to come. Calls of equal
// charges are one ask.
type gatherer struct {
	mu       sync.Mutex
	flights  int               // exchanges under way that are not overdue
	departed time.Duration     // when the last of them did, by the sender's clock
	carried  int               // calls of the latest exchanges, as an average of weight times one
	waiting  int               // calls whose batch has yet to depart
	queue    []*batch          // those batches, in the order in which they depart
	equal    map[identity]*ask // the asks of the last of them that further calls may be of
	watched  atomic.Bool       // whether it will be seen whether none has departed for long
}

// weight is how many of the latest exchanges count.
const weight = 8

// board finds a call a seat, or none if it may go at once: then there is an exchange more under way, which is to land.
// It may be that with it a batch departs.
func (g *gatherer) board(ctx context.Context, s *Store, came time.Duration, charges []ratelimit.Charge) (st seat, departs *batch, err error) {
	var array [256]byte
	merges := mergeable(charges)
	text := array[:0]
	if merges {
		text = s.appendIdentity(text, charges)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case len(g.queue) == 0 && g.mayDepart(false, came, s.sender.far), isNested(ctx):
		g.departs(1, came)
		return seat{}, nil, nil
	case g.waiting >= maxWaiting:
		return seat{}, nil, fault(KindOverload, fmt.Errorf("%d calls wait already", g.waiting))
	}
	g.waiting++
	if merges {
		if a, ok := g.equal[identity{string(text), len(charges), charges[0].Limit, charges[0].Cost}]; ok { // of which nothing is allocated
			st = g.queue[len(g.queue)-1].add(a, came)
			return st, g.next(&s.sender, came), nil
		}
	}
	a := s.newAsk(charges)
	a.calls = 0
	b := g.open(ctx, s, a.work())
	b.asks = append(b.asks, a)
	if merges {
		id := identity{charges: len(charges), limit: charges[0].Limit, cost: charges[0].Cost}
		if id.text = a.keys[0]; len(charges) > 1 {
			id.text = string(text)
		}
		g.equal[id] = a
	}
	st = b.add(a, came)
	return st, g.next(&s.sender, came), nil
}

// mayDepart reports whether an exchange may depart, which may be full, where so many may be under way at a server that is
// far away.
func (g *gatherer) mayDepart(full bool, now time.Duration, far int) bool {
	silent := now - g.departed
	switch {
	case g.flights == 0:
		return true
	case g.flights >= maxFlights:
		return g.flights < far && silent >= farAway
	}
	return full || silent >= longAgo || g.flights*g.carried < weight*manyCalls
}

// departs takes note of an exchange of so many calls.
func (g *gatherer) departs(calls int, now time.Duration) {
	g.flights++
	g.departed = max(g.departed, now) // a call that is asked anew came before others
	g.carried += calls - g.carried/weight
}

// next returns the batch that departs now, if one does. Who is overdue leaves.
func (g *gatherer) next(s *sender, now time.Duration) *batch {
	for len(g.queue) > 0 {
		b := g.queue[0]
		waits := b.callers > 0 && (s.timeout <= 0 || now-b.latest < s.timeout)
		full := len(g.queue) > 1 || !b.hasRoom(1)
		if waits && !g.mayDepart(full, now, s.far) {
			return nil
		}
		g.queue[0], g.queue = nil, g.queue[1:]
		if len(g.queue) == 0 {
			g.queue = nil
			clear(g.equal)
		}
		if waits {
			g.waiting -= b.callers
			b.departed = true
			g.departs(b.callers, now)
			return b
		}
	}
	return nil
}

// open returns the last batch, if there is room for one more ask of so much work, or else a new one.
func (g *gatherer) open(ctx context.Context, s *Store, work int) *batch {
	if n := len(g.queue); n > 0 && g.queue[n-1].hasRoom(work) {
		g.queue[n-1].work += work
		return g.queue[n-1]
	}
	b := &batch{ctx: ctx, work: work}
	b.expect(s.sender.timeout)
	g.queue = append(g.queue, b)
	if g.equal == nil {
		g.equal = make(map[identity]*ask, maxAsks)
	}
	clear(g.equal)
	return b
}

// overdue returns the batches that depart as none has for long, and in how long others may, or 0 if none wait.
func (g *gatherer) overdue(s *sender) (depart []*batch, again time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before, now := g.departed, s.now()
	for b := g.next(s, now); b != nil; b = g.next(s, now) {
		depart = append(depart, b)
		g.departed = before // for those behind it
	}
	if len(depart) > 0 {
		g.departed = now
	}
	if len(g.queue) > 0 {
		again = max(longAgo, g.departed+farAway-now)
	}
	return depart, again
}

// begin takes note of how an exchange can be ended, and reports whether anybody waits for it.
func (g *gatherer) begin(b *batch, cancel func()) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	b.cancel = cancel
	return b.callers > 0
}

// leave takes a call back whose caller has waited long enough, and reports whether its exchange has begun. The last in it
// ends it, as far as the client hears of that. Until it has landed it keeps its place, as it keeps its connection: others
// would depart only to wait for one, and a server that is well be taken for silent.
func (g *gatherer) leave(st seat) (begun bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	b := st.batch
	b.callers--
	if b.departed {
		if begun = b.cancel != nil; begun && b.callers == 0 {
			b.cancel()
		}
		return begun
	}
	g.waiting--
	st.ask.calls--
	if b.left == nil {
		b.left = map[*ask][]int{}
	}
	b.left[st.ask] = append(b.left[st.ask], st.n)
	return false
}

// land takes note that an exchange is over, or overdue, and returns the batch that departs in its place.
func (g *gatherer) land(b *batch, s *sender) (next *batch) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if b.landed {
		return nil
	}
	b.landed = true
	g.flights--
	return g.next(s, s.now())
}
