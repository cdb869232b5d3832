package redislimit

import (
	"log/slog"
	"sync"
	"sync/atomic"
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
// A server is taken off after five failures in a row, if they have lasted for twice the [Timeout], so that it may stall for
// a moment. From then on calls get an [Error] of [KindOutage] at once. After half a second to a second, which each process draws for itself, one call tries whether it is back, and if not, another one as
// long after that. Failures are those of the kinds timeout, connection, loading, readonly, clusterdown, busy, memory,
// forbidden and clock. The end of a caller's context before [Timeout] is none, unless the server answers nobody until that
// has passed.
//
// In a Cluster or Ring each server is watched by itself. One that leaves it while it is off the path is never reported as
// back.
//
// A call waits while report runs, so it should not take long. It is called once at a time, in order.
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

// outages reports what the breakers have seen, in order and one at a time, and without a lock: a report may call the
// Store.
type outages struct {
	report  func(Outage)
	waiting atomic.Int32 // how many are to be told

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
	o.waiting.Add(1)
}

// tell reports what was added, unless somebody else is about to.
func (o *outages) tell() {
	if o.waiting.Load() == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.telling {
		return
	}
	o.telling = true
	defer func() { o.telling = false }()
	for len(o.queue) > 0 {
		next := o.queue[0]
		o.queue = o.queue[1:]
		o.waiting.Add(-1)
		func() {
			o.mu.Unlock()
			defer o.mu.Lock() // also when the report panics
			o.report(next)
		}()
	}
}
