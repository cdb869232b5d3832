package redislimit

import (
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
)

// Outage is a server that is taken off the path of calls, or is back on it.
type Outage struct {
	Server string // its address, or what a client of Sentinel calls itself
	Down   bool   // whether it is taken off
	Err    error  // the last failure of those that took it off, or why it is not waited for any more; nil if it is back
}

// OnOutage has the Store report when a server is taken off the path of calls, and when it is back, besides the Observers of
// Limiters, see [Store.WatchOutages]. The default, for a Store that no Limiter watches, is one line of [slog.Default] each, a
// warning and an info; nil is no report.
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
// In a Cluster or Ring each server is watched by itself. Of one that leaves it while it is off the path, as the former master
// does in a failover, that is reported some ten seconds later: it is not Down then, and Err says so. Should it have keys
// again, it is reported only if it is still away.
//
// No call waits for report. It is called once at a time, in order, in a goroutine of its own, which does not recover its
// panics. That a server is silent is reported up to a second later, as go-redis takes that long to tell why it cannot connect.
func OnOutage(report func(Outage)) Option {
	return optionFunc(func(s *Store) { s.sender.outages.report, s.sender.outages.quiet = report, report == nil })
}

// WatchOutages has report called with what [OnOutage] tells of, until stop is called, and first with the servers that are off
// the path now. A [ratelimit.Limiter] calls it to tell its Observers. Reports of one Store are called one at a time, in order,
// in a goroutine of their own; report may still be called once while stop is.
func (s *Store) WatchOutages(report func(server string, away bool, err error)) (stop func()) {
	return s.sender.outages.watch(func(o Outage) { report(o.Server, o.Down, o.Err) })
}

func logOutage(o Outage) {
	if o.Down {
		slog.Warn("ratelimit: Redis is off the path of calls until it answers", "server", o.Server, "error", o.Err)
		return
	}
	if o.Err != nil {
		slog.Info("ratelimit: Redis goes on without a server", "server", o.Server, "error", o.Err)
		return
	}
	slog.Info("ratelimit: Redis is back on the path of calls", "server", o.Server)
}

// outages reports what the breakers have seen, in order and one at a time.
type outages struct {
	report func(Outage)
	quiet  bool // whether there is to be no report for want of others

	mu       sync.Mutex
	away     map[string]Outage // by server
	watchers []*watcher
	queue    []func()
	telling  bool
}

// watcher is who watches a Store, and for how long.
type watcher struct {
	report  func(Outage)
	stopped atomic.Bool
}

func (w *watcher) tell(o Outage) func() {
	return func() {
		if !w.stopped.Load() {
			w.report(o)
		}
	}
}

func (o *outages) watch(report func(Outage)) (stop func()) {
	w := &watcher{report: report}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.watchers = append(o.watchers, w)
	for _, outage := range o.away {
		o.enqueue(w.tell(outage))
	}
	return func() {
		w.stopped.Store(true)
		o.mu.Lock()
		defer o.mu.Unlock()
		o.watchers = slices.DeleteFunc(o.watchers, func(other *watcher) bool { return other == w })
	}
}

func (o *outages) add(outage Outage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if outage.Down {
		if o.away == nil {
			o.away = map[string]Outage{}
		}
		o.away[outage.Server] = outage
	} else {
		delete(o.away, outage.Server)
	}
	switch {
	case o.report != nil:
		o.enqueue(func() { o.report(outage) })
	case len(o.watchers) == 0 && !o.quiet:
		o.enqueue(func() { logOutage(outage) })
	}
	for _, w := range o.watchers {
		o.enqueue(w.tell(outage))
	}
}

// enqueue has a report made after those before it.
func (o *outages) enqueue(report func()) {
	o.queue = append(o.queue, report)
	if !o.telling {
		o.telling = true
		go o.tell()
	}
}

// tell reports until there is nothing left.
func (o *outages) tell() {
	for {
		report, ok := o.next()
		if !ok {
			return
		}
		report()
	}
}

func (o *outages) next() (report func(), ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		o.queue, o.telling = nil, false
		return nil, false
	}
	report = o.queue[0]
	o.queue = o.queue[1:]
	return report, true
}
