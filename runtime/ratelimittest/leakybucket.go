package ratelimittest

import (
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// leakyBuckets are the answers of a leaky bucket: those of a token bucket that refills greedily, microsecond by
// microsecond, as long as the limit does not change. The reports on GCRA among R01 to R41 are replayed there.
func leakyBuckets() []testCase { return asLeakyBuckets(tokenBuckets()) }

// asLeakyBuckets returns the cases of greedy token buckets as such of leaky buckets.
func asLeakyBuckets(cases []testCase) []testCase {
	var leaky []testCase
	for _, c := range cases {
		if c.limit.Algorithm == ratelimit.TokenBucket && c.limit.Refill == ratelimit.Greedy {
			c.name = "leaky bucket: " + c.name
			c.limit.Algorithm = ratelimit.LeakyBucket
			leaky = append(leaky, c)
		}
	}
	return leaky
}

// changedLeakyBuckets are the answers when the limit of a leaky bucket changes: it drains at the same time as before.
func changedLeakyBuckets() []testCase {
	return []testCase{
		{
			// D01
			name:  "leaky bucket: a new limit holds at once",
			limit: leak(100, 60*s, 0),
			steps: []step{
				take(0, 1).allowed(99, 600*ms),
				change(leak(10, 60*s, 0)),
				take(0, 1).allowed(8, 6600*ms),
			},
		},
		{
			// D02: what is used of the time stays used
			name:  "leaky bucket: raised and lowered",
			limit: leak(10, 60*s, 0),
			steps: []step{
				take(0, 8).allowed(2, 48*s),
				change(leak(20, 60*s, 0)),
				peek(0, 1).allowed(4, 48*s),
				change(leak(5, 60*s, 0)),
				take(0, 2).refused(1, 12*s, 48*s),
				take(0, 1).allowed(0, 60*s),
				change(leak(20, 60*s, 0)),
				take(0, 1).refused(0, 3*s, 60*s),
			},
		},
		{
			// D03
			name:  "leaky bucket: lowered inside the period",
			limit: leak(10, 10*s, 0),
			steps: []step{
				take(0, 3).allowed(7, 3*s),
				change(leak(5, 10*s, 0)),
				take(0, 3).allowed(0, 9*s),
				take(0, 1).refused(0, s, 9*s),
			},
		},
		{
			// D04
			name:  "leaky bucket: lowered below what is free, and raised",
			limit: leak(5, 5*ms, 0),
			steps: join(
				[]step{peek(0, 1).allowed(5, 0), change(leak(2, 5*ms, 0))},
				outcomes(5*ms, 0, "110"), outcomes(10*ms, 0, "110"), outcomes(500*ms, 0, "110"),
				[]step{change(leak(7, 5*ms, 0))},
				outcomes(505*ms, 0, "11111110"), outcomes(510*ms, 0, "11111110"),
			),
		},
		{
			// D05
			name:  "leaky bucket: raised rate raises the burst that was not said",
			limit: leak(10, s, 0),
			steps: []step{
				take(0, 10).allowed(0, s),
				change(leak(100, s, 0)),
				take(2*s, 100).allowed(0, s),
				change(leak(1000, s, 100)),
				take(4*s, 101).never(100, 0),
			},
		},
		{
			// D07: the state is a time
			name:  "leaky bucket: same rate, another burst",
			limit: leak(100, 10*s, 0),
			steps: []step{
				take(0, 5).allowed(95, 500*ms),
				change(leak(10, 10*s, 0)),
				take(0, 1).allowed(8, 1500*ms),
			},
		},
		{
			// D07: a bucket that holds more than its capacity drains at the same time as before
			name:  "leaky bucket: burst lowered below what it holds",
			limit: leak(10, 10*s, 0),
			steps: []step{
				take(0, 10).allowed(0, 10*s),
				change(leak(10, 10*s, 2)),
				peek(0, 1).refused(0, 9*s, 10*s),
				take(0, 0).allowed(0, 10*s),
				take(0, 1).refused(0, 9*s, 10*s),
				take(0, 3).never(0, 10*s),
				change(leak(10, 10*s, 0)),
				peek(0, 1).refused(0, s, 10*s), // what was refused has changed nothing
				change(leak(10, 10*s, 2)),
				take(9*s-us, 1).refused(0, us, s+us),
				take(9*s, 1).allowed(0, 2*s),
			},
		},
		{
			name:  "leaky bucket: a lower count keeps less than a microsecond of progress",
			limit: leak(3, s, 0),
			steps: []step{
				take(0, 1).allowed(2, 333_334*us), // and two thirds less
				change(leak(2, s, 0)),             // one half less
				take(0, 1).allowed(0, 833_334*us),
				refund(0, 1),
				change(leak(1, s, 0)),
				take(0, 1).refused(0, 333_334*us, 333_334*us),
			},
		},
		{
			name:  "leaky bucket: a slower limit does not keep it for longer",
			limit: leak(10, s, 0),
			steps: []step{
				take(0, 10).allowed(0, s),
				change(leak(10, 100*s, 0)),
				take(0, 10).refused(9, s, s),
				take(s, 10).allowed(0, 100*s),
			},
		},
	}
}

// setBackLeakyBuckets are the answers when the clock is set back, which looks like calls that filled the bucket: it drains
// when it would have.
func setBackLeakyBuckets() []testCase {
	return []testCase{
		{
			// R37
			name:  "leaky bucket and a clock set back by an hour",
			limit: leak(1, s, 5),
			steps: []step{
				take(2*h, 5).allowed(0, 5*s),
				take(h, 1).refused(0, h+s, h+5*s),
				take(2*h+s-us, 1).refused(0, us, 4*s+us),
				take(2*h+s, 1).allowed(0, 5*s),
			},
		},
		{
			name:  "leaky bucket and a clock set back by a little",
			limit: leak(1, s, 5),
			steps: []step{
				take(2*h, 2).allowed(3, 2*s),
				take(2*h-s, 1).allowed(1, 4*s),
				take(2*h-s, 1).allowed(0, 5*s),
				take(2*h-2*s, 1).refused(0, 2*s, 6*s),
				take(2*h-s, 1).refused(0, s, 5*s),
				take(2*h, 1).allowed(0, 5*s),
			},
		},
		{
			name:  "leaky bucket and a refund after the clock was set back",
			limit: leak(1, s, 5),
			steps: []step{
				take(2*h, 5).allowed(0, 5*s),
				refund(h, 2),
				take(h, 2).refused(0, h, h+3*s),
				take(2*h, 2).allowed(0, 5*s),
			},
		},
		{
			name:  "leaky bucket and a clock set back by sixty years: more units than any limit has",
			limit: leak(1_000_000, s, 1),
			steps: []step{
				take(525_600*h, 1).allowed(0, us),
				take(0, 1).refused(0, 525_600*h+us, 525_600*h+us),
				change(leak(999_999_999, 87600*h, 1)),
				peek(0, 1).refused(0, 525_600*h+us, 525_600*h+us),
			},
		},
	}
}
