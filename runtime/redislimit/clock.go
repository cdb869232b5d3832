package redislimit

import "time"

// ClientTime has the scripts go by the clocks of the processes that call, for servers that do not let scripts ask for
// the time, or do not know it. Each call then comes with the time at which it is sent, calls that go together with that of
// their batch. By default it is the server's
// clock, and those of the processes do not matter.
//
// All that share buckets should use it, or none, and their clocks should agree. Where they differ by d at most, a limit
// admits in any span of time what it would in one that is longer by d, and a call may be refused for longer than it
// should be by d, or be told to come back too soon by as much. So it is after the clock of a process was set back by d.
// Except for a [ratelimit.LeakyBucket], no call is refused for longer than its bucket takes to be as new. Leases of
// [ratelimit.Concurrency] are safe as long as d is less than a third of one.
func ClientTime() Option {
	return optionFunc(func(s *Store) { s.now = time.Now })
}

// callTime returns the time that a script goes by, as its argument: nothing if that is the server's.
func (s *Store) callTime() any {
	if s.now == nil {
		return ""
	}
	return s.now().UnixMicro()
}
