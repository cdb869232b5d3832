package ratelimittest

// changedSlidingLogs are the answers when the limit of a sliding log changes: its entries stay what they are.
func changedSlidingLogs() []testCase {
	return []testCase{
		{
			// D01
			name:  "log: a new limit holds at once and keeps what was used",
			limit: record(100, 60*s),
			steps: []step{
				take(0, 1).allowed(99, 60*s),
				change(record(10, 60*s)),
				take(10*s, 1).allowed(8, 60*s),
				take(60*s, 1).allowed(8, 60*s),
			},
		},
		{
			// D02
			name:  "log: raised and lowered",
			limit: record(10, 60*s),
			steps: []step{
				take(0, 8).allowed(2, 60*s),
				change(record(20, 60*s)),
				peek(10*s, 1).allowed(12, 50*s),
				change(record(5, 60*s)),
				take(10*s, 1).refused(0, 50*s, 50*s),
				change(record(20, 60*s)),
				peek(10*s, 1).allowed(12, 50*s),
				change(record(5, 60*s)),
				take(60*s, 5).allowed(0, 60*s),
			},
		},
		{
			// D03
			name:  "log: lowered inside the period",
			limit: record(10, s),
			steps: join(
				outcomes(0, 0, "111"),
				[]step{change(record(5, s))},
				outcomes(500*ms, 0, "110"),
				outcomes(s, 0, "1110"),
				outcomes(1500*ms, 0, "110"),
			),
		},
		{
			// D04
			name:  "log: lowered below what is free, and raised",
			limit: record(5, 5*ms),
			steps: join(
				[]step{peek(0, 1).allowed(5, 0), change(record(2, 5*ms))},
				outcomes(5*ms, 0, "110"), outcomes(10*ms, 0, "110"), outcomes(500*ms, 0, "110"),
				[]step{change(record(7, 5*ms))},
				outcomes(505*ms, 0, "11111110"), outcomes(510*ms, 0, "11111110"),
			),
		},
		{
			name:  "log: a shorter period forgets the old, a longer one brings back none that a call dropped",
			limit: record(10, 10*s),
			steps: []step{
				take(0, 4).allowed(6, 10*s),
				take(5*s, 4).allowed(2, 10*s),
				change(record(10, 2*s)),
				peek(6*s, 1).allowed(6, s),
				change(record(10, 10*s)),
				peek(6*s, 1).allowed(2, 9*s), // looking has dropped nothing
				change(record(10, 2*s)),
				take(6*s, 10).refused(6, s, s),
				change(record(10, 10*s)),
				peek(6*s, 1).allowed(2, 9*s), // nor has a refused call
				change(record(10, 2*s)),
				take(6*s, 1).allowed(5, 2*s),
				change(record(10, 10*s)),
				peek(6*s, 1).allowed(5, 10*s),
			},
		},
		{
			name:  "log: a shorter period forgets the old, also by a refund that gives nothing back",
			limit: record(10, 10*s),
			steps: []step{
				take(0, 4).allowed(6, 10*s),
				take(5*s, 3).allowed(3, 10*s),
				change(record(10, 2*s)),
				refund(6*s, 4).of(0),
				change(record(10, 10*s)),
				peek(6*s, 1).allowed(7, 9*s),
			},
		},
		{
			name:  "log: what is as new is forgotten, whatever the limit becomes",
			limit: record(10, s),
			steps: []step{
				take(0, 10).allowed(0, s),
				change(record(10, 100*s)),
				take(2*s, 10).allowed(0, 100*s),
			},
		},
		{
			name:  "log: a longer period is remembered for longer",
			limit: record(10, s),
			steps: []step{
				take(0, 10).allowed(0, s),
				change(record(10, 100*s)),
				take(500*ms, 1).refused(0, 99_500*ms, 99_500*ms),
				take(50*s, 1).refused(0, 50*s, 50*s), // by the first limit it would have been as new
				take(100*s, 1).allowed(9, 100*s),
			},
		},
	}
}

// setBackSlidingLogs are the answers when the clock is set back: what was taken later than now was taken now.
func setBackSlidingLogs() []testCase {
	return []testCase{
		{
			// R37
			name:  "log and a clock set back by an hour",
			limit: record(5, 10*s),
			steps: []step{
				take(2*h, 2).allowed(3, 10*s),
				take(2*h+s, 3).allowed(0, 10*s),
				take(h, 1).refused(0, 10*s, 10*s),
				take(h+10*s-us, 1).refused(0, us, us),
				take(h+10*s, 1).allowed(4, 10*s),
			},
		},
		{
			name:  "log and a clock set back, peeked at and set right",
			limit: record(5, 10*s),
			steps: []step{
				take(2*h, 5).allowed(0, 10*s),
				peek(h, 1).refused(0, 10*s, 10*s),
				take(h, 0).allowed(0, 10*s),
				take(2*h+10*s, 1).allowed(4, 10*s),
			},
		},
		{
			name:  "log and a clock set back by less than a period",
			limit: record(5, 10*s),
			steps: []step{
				take(10*s, 1).allowed(4, 10*s),
				take(14*s, 2).allowed(2, 10*s),
				take(18*s, 1).allowed(1, 10*s),
				take(12*s, 1).allowed(0, 10*s), // three of the four were taken now
				take(12*s, 1).refused(0, 8*s, 10*s),
				take(20*s, 1).allowed(0, 10*s),
				take(20*s, 1).refused(0, 2*s, 10*s),
			},
		},
		{
			name:  "log and a refund after the clock was set back",
			limit: record(5, 10*s),
			steps: []step{
				take(2*h, 2).allowed(3, 10*s),
				take(2*h+s, 3).allowed(0, 10*s),
				refund(h, 4),
				take(h, 4).allowed(0, 10*s),
			},
		},
	}
}
