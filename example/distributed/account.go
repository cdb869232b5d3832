package main

import "time"

// What a process admits of a user by itself, see [ratelimit.Instances].
const (
	shareRate  = (rate + processes - 1) / processes
	shareBurst = (burst + processes - 1) / processes
)

// account is what a user was admitted, and what it could be. Times are since the load began.
type account struct {
	user     string
	primary  string // the server that keeps its bucket, at first
	admitted int
	local    [processes][]span // of the calls that a process admitted by itself
	lost     time.Duration     // when that primary was killed; 0: never
	again    time.Duration     // when Redis first decided after that; 0: not yet
}

// span is the time from the first of some calls to the last.
type span struct{ from, to time.Duration }

func (s span) length() time.Duration { return s.to - s.from }

// full is how long it takes a bucket to be full again.
const full = burst * time.Second / rate

// add is told each call, those to each process in order.
func (a *account) add(c call) {
	if c.outcome == admitted {
		a.admitted++
		if c.local {
			spans := &a.local[c.process]
			if n := len(*spans); n > 0 && c.sent-(*spans)[n-1].to < full {
				(*spans)[n-1].to = c.answered
			} else {
				*spans = append(*spans, span{c.sent, c.answered})
			}
		}
	}
	if c.decided() && !c.local && a.lost > 0 && c.sent > a.lost && (a.again == 0 || c.sent < a.again) {
		a.again = c.sent
	}
}

// most returns how many calls the limit admits until now. A bucket is full at first, and then gets rate tokens a second:
//   - that in Redis, but for the time when its server was gone. The replica may have missed the last of what was
//     taken, but has at most a full bucket, too, when it takes over.
//   - that of each process, from when it first decided by itself until it last did. If it did not for so long that the
//     bucket was full again, it is as if it were another one.
func (a *account) most(now time.Duration) int {
	n := tokens(burst, rate, now-a.gone(now))
	if a.again > 0 {
		n += burst
	}
	for _, spans := range a.local {
		for _, s := range spans {
			n += tokens(shareBurst, shareRate, s.length())
		}
	}
	return n
}

// gone returns how long no server kept the bucket.
func (a *account) gone(now time.Duration) time.Duration {
	switch {
	case a.lost == 0:
		return 0
	case a.again == 0:
		return now - a.lost
	}
	return a.again - a.lost
}

// tokens returns how many tokens a bucket gives in some time.
func tokens(burst, rate int, d time.Duration) int {
	return burst + int(time.Duration(rate)*d/time.Second)
}
