package redislimit

import (
	"log/slog"
	"sync"
)

// Outage is a server that is taken off the path of calls, or is back on it.
type Outage struct {
	Server string // its address, or what a client of Sentinel calls itself
	Down   bool   // whether it is taken off
	Err    error  // the last failure of those that took it off; nil if it is back
}

// OnOutage has the Store report when a server is taken off the path of calls, and when it is back. The default is one
// line of [slog.Default] each, a warning and an info; nil is no report.
//
// A server is taken off after five failures in a row, or when of twenty exchanges or more within ten seconds at least half
// have failed; an exchange is one, however many calls it has. These must have lasted for twice the [Timeout], so that it
// may stall for a moment. From then on calls get an [Error] of [KindOutage] at once. After half a second to a second, which
// each process draws for itself, one call tries whether it is back, and if not, another one as long after that. Failures
// are those of the kinds timeout, connection, loading, readonly, busy, memory and clock. After one of readonly or memory
// only a call that was charged is an answer, until there was none for ten seconds: such a server still refuses others. The
// end of a caller's context before [Timeout] is no failure, but a server that has answered nobody for as long as that is
// asked for so long, whether the caller waits or not.
//
// In a Cluster or Ring each server is watched by itself. One that leaves it while it is off the path is never reported as
// back.
//
// No call waits for report. It is called once at a time, in order, in a goroutine of its own, which does not recover its
// panics. That a server is silent is reported up to a second later, as go-redis takes that long to tell why it cannot connect.
func OnOutage(report func(Outage)) Option {
	return optionFunc(func(s *Store) { s.sender.outages.report = report })
}

func logOutage(o Outage) {
	if o.Down {
		slog.Warn("ratelimit: Redis is off the path of calls until it answers", "server", o.Server, "error", o.Err)
		return
	}
	slog.Info("ratelimit: Redis is back on the path of calls", "server", o.Server)
}

// outages reports what the breakers have seen, in order and one at a time.
type outages struct {
	report func(Outage)

	mu      sync.Mutex
	queue   []Outage
	telling bool
}

func (o *outages) add(outage Outage) {
	if o.report == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queue = append(o.queue, outage)
	if !o.telling {
		o.telling = true
		go o.tell()
	}
}

// tell reports until there is nothing left.
func (o *outages) tell() {
	for {
		next, ok := o.next()
		if !ok {
			return
		}
		o.report(next)
	}
}

func (o *outages) next() (Outage, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		o.queue, o.telling = nil, false
		return Outage{}, false
	}
	next := o.queue[0]
	o.queue = o.queue[1:]
	return next, true
}
