package ratelimittest

// changedLimits are the answers when a limit changes while its buckets live.
func changedLimits() []testCase {
	return []testCase{
		{
			// D01
			name:  "window: a new limit holds at once and keeps what was used",
			limit: window(100, 60*s),
			steps: []step{
				take(0, 1).allowed(99, 60*s),
				change(window(10, 60*s)),
				take(10*s, 1).allowed(8, 50*s),
			},
		},
		{
			// D02
			name:  "window: raised and lowered",
			limit: window(10, 60*s),
			steps: []step{
				take(0, 8).allowed(2, 60*s),
				change(window(20, 60*s)),
				peek(10*s, 1).allowed(12, 50*s),
				change(window(5, 60*s)),
				take(10*s, 1).refused(0, 50*s, 50*s),
				change(window(20, 60*s)),
				peek(10*s, 1).allowed(12, 50*s),
				change(window(5, 60*s)),
				take(60*s, 5).allowed(0, 60*s),
			},
		},
		{
			// D03
			name:  "window: lowered inside the period",
			limit: window(10, s),
			steps: join(
				outcomes(0, 0, "111"),
				[]step{change(window(5, s))},
				outcomes(500*ms, 0, "110"),
				outcomes(s, 0, "111110"),
			),
		},
		{
			// D04
			name:  "lowered below what is free, and raised",
			limit: interval(5, 5*ms, 5),
			steps: join(
				[]step{peek(0, 1).allowed(5, 0), change(interval(2, 5*ms, 2))},
				outcomes(5*ms, 0, "110"), outcomes(10*ms, 0, "110"), outcomes(15*ms, 0, "110"), outcomes(500*ms, 0, "110"),
				[]step{change(interval(7, 5*ms, 7))},
				outcomes(505*ms, 0, "11111110"), outcomes(510*ms, 0, "11111110"),
			),
		},
		{
			// D05
			name:  "raised rate raises the burst that was not said",
			limit: tokens(10, s),
			steps: []step{
				take(0, 10).allowed(0, s),
				change(tokens(100, s)),
				take(2*s, 100).allowed(0, s),
				change(burst(1000, s, 100)),
				take(4*s, 101).never(100, 0),
			},
		},
		{
			// D02
			name:  "raised and lowered",
			limit: tokens(10, 60*s),
			steps: []step{
				take(0, 8).allowed(2, 48*s),
				change(tokens(20, 60*s)),
				peek(0, 1).allowed(12, 24*s),
				change(tokens(5, 60*s)),
				take(0, 1).refused(0, 12*s, 60*s),
				change(tokens(20, 60*s)),
				peek(0, 1).allowed(12, 24*s), // the refused call changed nothing
			},
		},
		{
			// D03
			name:  "lowered inside the period",
			limit: tokens(10, 10*s),
			steps: []step{
				take(0, 3).allowed(7, 3*s),
				change(tokens(5, 10*s)),
				take(0, 2).allowed(0, 10*s),
				take(0, 1).refused(0, 2*s, 10*s),
			},
		},
		{
			// D07: the state is what was used
			name:  "same rate, another burst",
			limit: tokens(100, 10*s),
			steps: []step{
				take(0, 5).allowed(95, 500*ms),
				change(tokens(10, 10*s)),
				take(0, 1).allowed(4, 6*s),
			},
		},
		{
			// D07: an empty bucket that was made smaller is just empty
			name:  "burst lowered below what was used",
			limit: tokens(10, 10*s),
			steps: []step{
				take(0, 10).allowed(0, 10*s),
				change(burst(10, 10*s, 2)),
				take(0, 1).refused(0, s, 2*s),
				take(s-us, 1).refused(0, us, s+us),
				take(s, 1).allowed(0, 2*s),
			},
		},
		{
			name:  "a shorter period keeps less than a token of progress",
			limit: burst(1, 100*s, 5),
			steps: []step{
				take(0, 5).allowed(0, 500*s),
				refund(99*s, 1), // and 99 hundredths of a token
				change(burst(1, s, 5)),
				take(99*s, 2).refused(1, us, 3*s+us),
				take(99*s+us, 2).allowed(0, 5*s),
			},
		},
		{
			name:  "a slower limit is remembered for longer",
			limit: tokens(10, s),
			steps: []step{
				take(0, 10).allowed(0, s),
				change(tokens(10, 100*s)),
				take(0, 1).refused(0, 10*s, 100*s),
				take(5*s, 1).refused(0, 5*s, 95*s), // by the first limit it would have been as new
				take(10*s, 1).allowed(0, 100*s),
			},
		},
		{
			name:  "what is as new is forgotten, whatever the limit becomes",
			limit: tokens(10, s),
			steps: []step{
				take(0, 10).allowed(0, s),
				change(tokens(10, 100*s)),
				take(2*s, 10).allowed(0, 100*s),
			},
		},
		{
			name:  "refill changed on the way",
			limit: burst(2, 10*s, 5),
			steps: []step{
				take(0, 5).allowed(0, 25*s),
				change(interval(2, 10*s, 5)),
				take(7*s, 1).refused(0, 3*s, 23*s),
				take(10*s, 1).allowed(1, 20*s),
				change(burst(2, 10*s, 5)),
				take(15*s, 3).refused(2, 5*s, 15*s),
			},
		},
	}
}

// setBack are the answers when the clock is set back.
func setBack() []testCase {
	return []testCase{
		{
			// R37
			name:  "clock set back by an hour",
			limit: burst(1, s, 5),
			steps: []step{
				take(2*h, 5).allowed(0, 5*s),
				take(h, 1).refused(0, s, 5*s),
				take(h+s-us, 1).refused(0, us, 4*s+us),
				take(h+s, 1).allowed(0, 5*s),
				take(h+2*s, 1).allowed(0, 5*s),
			},
		},
		{
			name:  "clock set back, peeked at and set right",
			limit: burst(1, s, 5),
			steps: []step{
				take(2*h, 5).allowed(0, 5*s),
				peek(h, 1).refused(0, s, 5*s),
				take(h, 0).allowed(0, 5*s),
				take(2*h+s, 1).allowed(0, 5*s),
			},
		},
		{
			// R37
			name:  "interval and a clock set back by an hour",
			limit: interval(2, s, 4),
			steps: []step{
				take(2*h, 4).allowed(0, 2*s),
				take(h, 1).refused(0, s, 2*s),
				take(h+s, 2).allowed(0, 2*s),
			},
		},
		{
			// R37
			name:  "window and a clock set back by an hour",
			limit: window(5, 10*s),
			steps: []step{
				take(2*h, 5).allowed(0, 10*s),
				take(h, 1).refused(0, 10*s, 10*s),
				take(h+10*s-us, 1).refused(0, us, us),
				take(h+10*s, 1).allowed(4, 10*s),
			},
		},
	}
}
