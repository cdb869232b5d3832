package ratelimittest

import (
	"fmt"
	"strings"
)

// concurrencyLimits are the answers of a concurrency limit.
func concurrencyLimits() []testCase {
	return []testCase{
		{
			// R43
			name:  "slots: the last permitted call is permitted",
			limit: slots(10, 10*s),
			steps: join(
				times(10, 0, 0, func(st step, i int64) step { return st.by(fmt.Sprint(i)).allowed(9-i, 10*s) }),
				[]step{take(0, 1).by("another").refused(0, 10*s, 10*s)},
			),
		},
		{
			name:  "slots: one that is given back is had by the next",
			limit: slots(3, 10*s),
			steps: []step{
				take(0, 1).by("A").allowed(2, 10*s),
				take(s, 1).by("B").allowed(1, 10*s),
				take(2*s, 1).by("C").allowed(0, 10*s),
				take(3*s, 1).by("D").refused(0, 7*s, 9*s),
				refund(3*s, 1).by("B"),
				take(3*s, 1).by("D").allowed(0, 10*s),
			},
		},
		{
			// C01
			name:  "slots of holders that are gone come back when their lease ends",
			limit: slots(2, 30*s),
			steps: []step{
				take(0, 1).by("A").allowed(1, 30*s),
				take(0, 1).by("B").allowed(0, 30*s),
				take(29_900*ms, 1).by("C").refused(0, 100*ms, 100*ms),
				take(30*s-us, 1).by("C").refused(0, us, us),
				take(30_100*ms, 1).by("C").allowed(1, 30*s),
				take(30_100*ms, 1).by("D").allowed(0, 30*s),
			},
		},
		{
			// C02
			name:  "slots: a late release is not that of the next holder",
			limit: slots(1, 10*s),
			steps: []step{
				take(0, 1).by("A").allowed(0, 10*s),
				take(11*s, 1).by("B").allowed(0, 10*s),
				refund(12*s, 1).by("A").gone(),
				take(12*s, 1).by("C").refused(0, 9*s, 9*s),
			},
		},
		{
			// C03
			name:  "slots: the release of a lease that has ended says so",
			limit: slots(1, s),
			steps: []step{
				take(0, 1).by("A").allowed(0, s),
				refund(s, 1).by("A").gone(),
				take(1500*ms, 1).by("B").allowed(0, s),
				take(1500*ms, 1).by("C").refused(0, s, s),
			},
		},
		{
			// C04
			name:  "slots whose lease has ended are free without anybody taking them",
			limit: slots(5, s),
			steps: []step{
				take(0, 1).by("A").allowed(4, s),
				take(0, 4).by("B").allowed(0, s),
				peek(s-us, 1).refused(0, us, us),
				peek(1500*ms, 5).allowed(5, 0),
			},
		},
		{
			// C06
			name:  "slots that are all taken are not new ones",
			limit: slots(1, 10*s),
			steps: []step{
				take(0, 1).by("A").allowed(0, 10*s),
				take(0, 1).by("B").refused(0, 10*s, 10*s),
				take(9*s, 1).by("B").refused(0, s, s),
			},
		},
		{
			// C07
			name:  "slots: one of two that come in the same microsecond, or soon after, or again and again",
			limit: slots(1, 10*s),
			steps: rounds(100),
		},
		{
			// C08
			name:  "slots: their number comes with the call",
			limit: slots(1, 10*s),
			steps: []step{
				take(0, 1).by("A").allowed(0, 10*s),
				change(slots(3, 10*s)),
				peek(0, 1).allowed(2, 10*s),
				take(s, 2).by("B").allowed(0, 10*s),
				change(slots(2, 10*s)),
				take(s, 1).by("C").refused(0, 10*s, 10*s), // when both of B's have gone
				refund(s, 1).by("B"),
				take(s, 1).by("C").refused(0, 9*s, 10*s),
				take(10*s, 1).by("C").allowed(0, 10*s),
			},
		},
		{
			// C10
			name:  "slots: a renewed lease lasts",
			limit: slots(1, 10*s),
			steps: []step{
				take(0, 1).by("A").allowed(0, 10*s),
				renew(5*s, 1).by("A").held(),
				take(12*s, 1).by("B").refused(0, 3*s, 3*s),
				renew(15*s-us, 1).by("A").held(),
				take(24*s, 1).by("B").refused(0, s-us, s-us),
				refund(24_900*ms, 1).by("A"),
				take(25_100*ms, 1).by("B").allowed(0, 10*s),
			},
		},
		{
			// C10
			name:  "slots: a lease that was lost is not revived",
			limit: slots(1, 10*s),
			steps: []step{
				take(0, 1).by("A").allowed(0, 10*s),
				renew(10*s, 1).by("A").gone(),
				renew(10*s, 1).by("A").gone(),
				peek(10*s, 1).allowed(1, 0),
				take(10*s, 1).by("B").allowed(0, 10*s),
				renew(11*s, 1).by("A").gone(),
				renew(11*s, 1).by("B").held(),
				take(12*s, 1).by("A").refused(0, 9*s, 9*s),
			},
		},
		{
			// C13
			name:  "slots that are released twice are free once",
			limit: slots(1, 10*s),
			steps: []step{
				take(0, 1).by("A").allowed(0, 10*s),
				refund(0, 1).by("A"),
				refund(0, 1).by("A").gone(),
				peek(0, 1).allowed(1, 0),
				take(0, 1).by("B").allowed(0, 10*s),
				take(0, 1).by("C").refused(0, 10*s, 10*s),
			},
		},
		{
			// C15
			name:  "slots that are released are free at once",
			limit: slots(1, h),
			steps: []step{
				take(0, 1).by("A").allowed(0, h),
				refund(s, 1).by("A"),
				take(s, 1).by("B").allowed(0, h),
			},
		},
		{
			// R10
			name:  "slots: more than there are",
			limit: slots(5, 60*s),
			steps: []step{
				take(0, 10).by("A").never(5, 0),
				take(0, 1).by("A").allowed(4, 60*s),
				take(0, 6).by("A").never(4, 60*s),
			},
		},
		{
			// R14
			name:  "slots: peek and take say the same",
			limit: slots(2, s),
			steps: []step{
				peek(0, 1).allowed(2, 0),
				take(0, 2).by("A").allowed(0, s),
				peek(400*ms, 1).refused(0, 600*ms, 600*ms),
				take(400*ms, 1).by("B").refused(0, 600*ms, 600*ms),
				peek(400*ms, 2).by("A").allowed(0, 600*ms), // whose they are
				peek(s, 1).allowed(2, 0),
			},
		},
		{
			// R23
			name:  "slots: refused calls take nothing",
			limit: slots(10, 10*s),
			steps: []step{
				take(0, 8).by("A").allowed(2, 10*s),
				take(s, 5).by("B").refused(2, 9*s, 9*s),
				take(s, 1).by("B").allowed(1, 10*s),
				take(s, 1_000_000).by("C").never(1, 10*s),
				take(s, 1).by("C").allowed(0, 10*s),
			},
		},
		{
			name:  "slots: taking again takes nothing more and starts the lease anew",
			limit: slots(2, 10*s),
			steps: []step{
				take(0, 1).by("A").allowed(1, 10*s),
				take(4*s, 1).by("A").allowed(1, 10*s),
				take(5*s, 2).by("A").allowed(0, 10*s),
				take(6*s, 1).by("A").allowed(0, 10*s),
				peek(15*s, 1).allowed(1, s), // the other one was let be
				refund(15*s, 2).by("A"),
				peek(15*s, 2).allowed(2, 0),
			},
		},
		{
			name:  "slots: retry does not count on those that the caller has",
			limit: slots(2, 10*s),
			steps: []step{
				take(0, 1).by("A").allowed(1, 10*s),
				take(5*s, 1).by("B").allowed(0, 10*s),
				take(6*s, 2).by("A").refused(0, 9*s, 9*s),
				take(6*s, 2).by("C").refused(0, 9*s, 9*s),
				take(6*s, 2).by("B").refused(0, 4*s, 9*s),
				take(10*s, 2).by("B").allowed(0, 10*s),
			},
		},
		{
			name:  "slots: each holder has as many as it took",
			limit: slots(5, 10*s),
			steps: []step{
				take(0, 3).by("A").allowed(2, 10*s),
				take(s, 2).by("B").allowed(0, 10*s),
				take(2*s, 3).by("C").refused(0, 8*s, 9*s),
				refund(2*s, 2).by("A"), // one is left
				take(2*s, 3).by("C").refused(2, 8*s, 9*s),
				take(2*s, 2).by("C").allowed(0, 10*s),
				refund(3*s, 3).by("A"),
				refund(3*s, 3).by("A").gone(),
				peek(3*s, 1).allowed(1, 9*s),
			},
		},
		{
			name:  "slots: a renewal is of all of them or of none",
			limit: slots(3, 10*s),
			steps: []step{
				take(0, 2).by("A").allowed(1, 10*s),
				take(5*s, 1).by("A").allowed(1, 10*s),
				renew(9*s, 2).by("A").held(),
				renew(9*s, 3).by("A").gone(),
				take(10*s, 1).by("A").allowed(1, 10*s),
				renew(19*s, 2).by("A").gone(), // the second has ended
				renew(19*s, 1).by("A").held(),
				peek(28*s, 1).allowed(2, s),
			},
		},
		{
			name:  "slots: the release of some that are left",
			limit: slots(3, 10*s),
			steps: []step{
				take(0, 3).by("A").allowed(0, 10*s),
				take(5*s, 1).by("A").allowed(0, 10*s),
				peek(10*s, 1).allowed(2, 5*s),
				refund(10*s, 3).by("A"), // of the one
				peek(10*s, 3).allowed(3, 0),
			},
		},
		{
			name:  "slots: holders whose names look like numbers of slots, or not like names",
			limit: slots(100, 10*s),
			steps: strangers("1", "2", "12", "2:2", "-2", "02", "a", "A", "!", "~", "%d", "'\"\\", "{}", strings.Repeat("x", 128)),
		},
	}
}

// rounds are takes of two holders of the same microsecond, and of a third 2 ms later, of whom the first gets the only
// slot, and gives it back.
func rounds(n int) []step {
	var steps []step
	for i := range n {
		at := micros(int64(i) * 2000)
		steps = append(steps,
			take(at, 1).by("A").allowed(0, 10*s),
			take(at, 1).by("B").refused(0, 10*s, 10*s),
			take(at+2*ms, 1).by("C").refused(0, 10*s-2*ms, 10*s-2*ms),
			refund(at+2*ms, 1).by("A"),
		)
	}
	return steps
}

// strangers are takes of two slots by each holder, and their releases.
func strangers(holders ...string) []step {
	var takes, refunds []step
	for i, holder := range holders {
		takes = append(takes, take(0, 2).by(holder).allowed(98-2*int64(i), 10*s))
		refunds = append(refunds, refund(0, 2).by(holder), peek(0, 1).allowed(102+2*int64(i-len(holders)), 10*s))
	}
	refunds[len(refunds)-1] = peek(0, 1).allowed(100, 0)
	return append(takes, refunds...)
}
