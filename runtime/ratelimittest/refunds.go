package ratelimittest

// refunds are the answers after a refund that says when its units were taken, which matters to windows and logs.
func refunds() []testCase {
	return []testCase{
		{
			name:  "window: refund of what was taken in an earlier one gives a later one nothing",
			limit: window(2, s),
			steps: []step{
				take(0, 1).allowed(1, s),
				take(s, 2).allowed(0, s),
				refund(1500*ms, 1).of(0),
				take(1500*ms, 1).refused(0, 500*ms, 500*ms),
				refund(1500*ms, 1).of(s - us),
				take(1500*ms, 1).refused(0, 500*ms, 500*ms),
				refund(1500*ms, 1).of(s),
				take(1500*ms, 1).allowed(0, 500*ms),
			},
		},
		{
			name:  "window: refund of what was taken in one that was given back as a whole",
			limit: window(2, s),
			steps: []step{
				take(0, 2).allowed(0, s),
				refund(100*ms, 2).of(0),
				take(500*ms, 2).allowed(0, s),
				refund(600*ms, 2).of(0),
				take(600*ms, 1).refused(0, 900*ms, 900*ms),
			},
		},
		{
			name:  "sliding window: refund of what was taken in the previous one lets no more pass in the current one",
			limit: slide(10, 60*s),
			steps: []step{
				take(0, 5).allowed(5, 120*s), // that succeed, as they turn out later
				take(118*s, 9).allowed(0, 62*s),
				refund(118*s, 5).of(0),
				take(118*s, 1).allowed(0, 62*s), // as the previous window counted for one
				take(118*s, 1).refused(0, 8*s, 62*s),
			},
		},
		{
			name:  "sliding window: what is left of the previous one counts by its weight",
			limit: slide(10, 60*s),
			steps: []step{
				take(0, 10).allowed(0, 120*s),
				refund(90*s, 4).of(0),
				peek(90*s, 8).refused(7, 10*s, 30*s),
				refund(90*s, 1000).of(60*s - us),
				peek(90*s, 10).allowed(10, 0),
			},
		},
		{
			name:  "sliding window: refund of what was taken in each window",
			limit: slide(10, 60*s),
			steps: []step{
				take(0, 4).allowed(6, 120*s),
				take(60*s, 3).allowed(3, 120*s),
				take(120*s, 2).allowed(5, 120*s),
				refund(120*s, 4).of(60*s - us), // it counts no more
				peek(120*s, 1).allowed(5, 120*s),
				refund(120*s, 4).of(60 * s),
				peek(120*s, 1).allowed(8, 120*s),
				refund(120*s, 1).of(120 * s),
				peek(120*s, 1).allowed(9, 120*s),
			},
		},
		{
			name:  "log: refund of what was taken last takes that back",
			limit: record(10, 10*s),
			steps: []step{
				take(0, 4).allowed(6, 10*s),
				take(s, 3).allowed(3, 10*s),
				take(2*s, 3).allowed(0, 10*s),
				refund(3*s, 2).of(2 * s),
				peek(3*s, 3).refused(2, 7*s, 9*s),
				refund(3*s, 1).of(2 * s),
				peek(3*s, 4).refused(3, 7*s, 8*s),
				refund(3*s, 2).of(s),
				peek(3*s, 6).refused(5, 7*s, 8*s),
			},
		},
		{
			name:  "log: refund of what was not taken last takes the oldest back",
			limit: record(10, 10*s),
			steps: []step{
				take(0, 4).allowed(6, 10*s),
				take(s, 3).allowed(3, 10*s),
				take(2*s, 3).allowed(0, 10*s),
				refund(3*s, 2).of(s),
				peek(3*s, 4).refused(2, 7*s, 9*s),
				peek(3*s, 5).refused(2, 8*s, 9*s),
				refund(3*s, 5).of(0),
				peek(3*s, 8).refused(7, 9*s, 9*s),
				refund(3*s, 1000).of(0),
				peek(3*s, 10).allowed(10, 0),
			},
		},
		{
			name:  "log: refund that does not say when is of what was taken now, or of the oldest",
			limit: record(10, 10*s),
			steps: []step{
				take(0, 4).allowed(6, 10*s),
				take(s, 3).allowed(3, 10*s),
				refund(s, 2),
				peek(s, 9).refused(5, 9*s, 10*s),
				refund(2*s, 2),
				peek(2*s, 8).refused(7, 8*s, 9*s),
				peek(2*s, 10).refused(7, 9*s, 9*s),
			},
		},
		{
			name:  "log: refund of what was taken later than now is of what was taken now",
			limit: record(10, 10*s),
			steps: []step{
				take(0, 4).allowed(6, 10*s),
				take(s, 3).allowed(3, 10*s),
				refund(s, 2).of(s + us),
				peek(s, 9).refused(5, 9*s, 10*s),
			},
		},
		{
			name:  "log: refund of more than was taken last takes the rest of the oldest",
			limit: record(10, 10*s),
			steps: []step{
				take(0, 3).allowed(7, 10*s),
				take(s, 3).allowed(4, 10*s),
				take(2*s, 3).allowed(1, 10*s),
				refund(2*s, 4),
				peek(2*s, 6).refused(5, 8*s, 9*s),
				peek(2*s, 8).refused(5, 9*s, 9*s),
			},
		},
		{
			name:  "log: refund of what counts no more",
			limit: record(10, 10*s),
			steps: []step{
				take(0, 4).allowed(6, 10*s),
				take(5*s, 3).allowed(3, 10*s),
				refund(10*s-us, 1).of(0),
				peek(10*s-us, 1).allowed(4, 5*s+us),
				refund(10*s, 3).of(0), // they are over by themselves
				peek(10*s, 1).allowed(7, 5*s),
				refund(10*s, 1).of(us),
				peek(10*s, 1).allowed(8, 5*s),
			},
		},
		{
			name:  "log: successes that are given back late hide no failures",
			limit: record(10, 60*s),
			steps: []step{
				take(0, 5).allowed(5, 60*s), // the slow successes
				take(50*s, 5).allowed(0, 60*s),
				refund(50*s, 5).of(0),
				take(50*s, 5).allowed(0, 60*s),
				take(60*s, 1).refused(0, 50*s, 50*s), // or there were 15 in 10 s
				take(110*s-us, 1).refused(0, us, us),
				take(110*s, 10).allowed(0, 60*s),
			},
		},
		{
			name:  "log: refund of what was taken in the last tick, and in another",
			limit: record(2_000_000, 10*s), // of 10 µs ticks
			steps: []step{
				take(20*us, 1_000_000).allowed(1_000_000, 10*s),
				take(29*us, 500_000).allowed(500_000, 10*s),
				refund(35*us, 300_000).of(20 * us),
				take(35*us, 200_000).allowed(600_000, 10*s),
				refund(39*us, 100_000).of(30 * us),
				take(39*us, 1_900_000).refused(700_000, 10*s-10*us, 10*s-4*us),
				refund(39*us, 100_000).of(29 * us),
				take(39*us, 1_900_000).refused(800_000, 10*s-10*us, 10*s-4*us),
			},
		},
	}
}

// setBackRefunds are the answers after a refund of what seems to have been taken later than now: it was taken now.
func setBackRefunds() []testCase {
	return []testCase{
		{
			name:  "window and a refund of what was taken before the clock was set back",
			limit: window(5, 10*s),
			steps: []step{
				take(2*h, 5).allowed(0, 10*s),
				refund(h, 2).of(2 * h),
				peek(h, 2).allowed(2, 10*s),
			},
		},
		{
			name:  "sliding window and a refund of what was taken before the clock was set back",
			limit: slide(5, 10*s),
			steps: []step{
				take(2*h, 5).allowed(0, 20*s),
				refund(h, 2).of(2 * h),
				peek(h, 2).allowed(2, 20*s),
			},
		},
		{
			name:  "log and a refund of what was taken before the clock was set back",
			limit: record(5, 10*s),
			steps: []step{
				take(h-s, 1).allowed(4, 10*s),
				take(2*h, 2).allowed(3, 10*s), // by now the first is over
				take(2*h+s, 1).allowed(2, 10*s),
				take(h, 1).allowed(1, 10*s),
				refund(h, 2).of(2 * h),
				peek(h, 1).allowed(3, 10*s),
				refund(h+s, 1).of(2 * h), // of the oldest
				take(h+s, 4).allowed(0, 10*s),
				take(h+s, 1).refused(0, 9*s, 10*s),
			},
		},
	}
}
