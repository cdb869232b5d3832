package redislimit

import (
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

const (
	// steadySpan is how long the server's clock must have been seen to run as this process's does before a refusal is
	// remembered. One that stands still is behind by as much by then.
	steadySpan = time.Second
	// steadyWithin is what two replies may disagree by, besides what they leave open. Clocks that are kept right drift
	// apart by less than that for hours, and those of a Cluster's servers seldom differ by more.
	steadyWithin = 50 * time.Millisecond
)

// pace is how far the server's clock is ahead of the sender's. A reply tells by when it was decided, which was
// after it was asked for and before it came. Nothing of it changes.
//
// A refusal ends by the server's clock, and what is remembered of it by this process's: that is the same only while both run
// alike. They do not where a test sets the time of its server, where an operator does, after a failover to a server with
// another clock, and when the process's machine has slept. All replies are compared with one at the beginning, so that a
// clock that moves a little with each of them is found out, too.
type pace struct {
	least, most time.Duration
	since       time.Duration // when its first reply had come
	steady      bool          // whether a reply agrees that was asked for a steadySpan after that
}

// watch compares what the answers to a call tell of their servers' clocks with what others told, and returns the pace that
// holds now. If it is another one than before, nothing of what is remembered holds any more. It writes nothing as long as
// they agree.
func (d *denials) watch(asked, answered time.Duration, results []ratelimit.Result) (now *pace) {
	if d.sets == nil {
		return nil
	}
	for i := range results {
		if at := results[i].At; i == 0 || at != results[i-1].At {
			now = d.compare(asked, pace{least: at - answered, most: at - asked, since: answered})
		}
	}
	return now
}

func (d *denials) compare(asked time.Duration, told pace) *pace {
	for {
		p, next := d.pace.Load(), told
		if p != nil && p.meets(told) {
			if p.steady || asked < p.since+steadySpan {
				return p
			}
			if p.most-p.least < told.most-told.least { // which leaves less open
				next = *p
			}
			next.steady = true
		}
		if now := new(next); d.pace.CompareAndSwap(p, now) {
			return now
		}
	}
}

// meets reports whether both may be the same.
func (p *pace) meets(told pace) bool {
	return told.least <= p.most+steadyWithin && p.least <= told.most+steadyWithin
}

// isSteady reports whether a refusal can be remembered.
func (p *pace) isSteady() bool { return p != nil && p.steady }
