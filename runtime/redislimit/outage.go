package redislimit

import "log/slog"

// Outage is a server that is taken off the path of calls, or is back on it.
type Outage struct {
	Server string // its address, or what a client of Sentinel calls itself
	Down   bool   // whether it is taken off
	Err    error  // the last failure of those that took it off; nil if it is back
}

// OnOutage has the Store report when a server is taken off the path of calls, and when it is back. The default is one
// line of [slog.Default] each, a warning and an info.
//
// A server is taken off after five failures in a row. From then on calls get an [Error] of [KindOutage] at once. After half
// a second to a second, which each process draws for itself, one call tries whether it is back, and if not, another one as
// long after that. Failures are those of the kinds timeout, connection, loading, readonly, clusterdown, busy, memory,
// forbidden and clock; of timeouts only if [Timeout] has passed, too.
//
// In a Cluster or Ring each server is watched by itself. One that leaves it while it is off the path is never reported as
// back.
//
// A call waits while report runs, so it should not take long. It is called once at a time, in order.
func OnOutage(report func(Outage)) Option {
	return optionFunc(func(s *Store) { s.onOutage = report })
}

func logOutage(o Outage) {
	if o.Down {
		slog.Warn("ratelimit: Redis is off the path of calls until it answers", "server", o.Server, "error", o.Err)
		return
	}
	slog.Info("ratelimit: Redis is back on the path of calls", "server", o.Server)
}
