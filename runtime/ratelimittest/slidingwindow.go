package ratelimittest

import "strings"

// slidingWindows are the answers of a sliding window. Time 0 is the start of a window.
func slidingWindows() []testCase {
	return []testCase{
		{
			// R22
			name:  "sliding window: the previous window counts for what is left of it",
			limit: slide(100, 10*s),
			steps: join(
				[]step{
					take(0, 50).allowed(50, 20*s),
					take(10*s, 10).allowed(40, 20*s),
					peek(11*s, 1).allowed(45, 19*s),
				},
				outcomes(11*s, 0, strings.Repeat("1", 45)),
				[]step{take(11*s, 1).refused(0, 200*ms, 19*s)}, // when 44 of the 50 are left
			),
		},
		{
			name:  "sliding window: an estimate that is no whole number is rounded up",
			limit: slide(3, s),
			steps: []step{
				take(0, 3).allowed(0, 2*s),
				take(s, 1).refused(0, 333_334*us, s),
				take(s+333_333*us, 1).refused(0, us, 666_667*us),
				take(s+333_334*us, 1).allowed(0, 1_666_666*us),
				take(s+333_334*us, 1).refused(0, 333_333*us, 1_666_666*us),
			},
		},
		{
			// R10
			name:  "sliding window and a cost above its count",
			limit: slide(5, 60*s),
			steps: []step{
				take(0, 10).never(5, 0),
				take(s, 1).allowed(4, 119*s),
				take(h, 6).never(5, 0),
				take(h, 1).allowed(4, 120*s),
				take(h, 6).never(4, 120*s),
			},
		},
		{
			name:  "sliding window and a cost of just its count",
			limit: slide(5, s),
			steps: []step{
				take(0, 1).allowed(4, 2*s),
				take(0, 5).refused(4, 2*s, 2*s),
				take(2*s-us, 5).refused(4, us, us),
				take(2*s, 5).allowed(0, 2*s),
			},
		},
		{
			// R14
			name:  "sliding window: peek and take say the same",
			limit: slide(2, s),
			steps: []step{
				peek(0, 1).allowed(2, 0),
				take(0, 2).allowed(0, 2*s),
				peek(400*ms, 1).refused(0, 1100*ms, 1600*ms),
				take(400*ms, 1).refused(0, 1100*ms, 1600*ms),
				peek(1500*ms, 1).allowed(1, 500*ms),
				take(1500*ms, 1).allowed(0, 1500*ms),
			},
		},
		{
			// R23
			name:  "sliding window: refused calls take nothing",
			limit: slide(10, 10*s),
			steps: []step{
				take(0, 8).allowed(2, 20*s),
				take(s, 5).refused(2, 12_750*ms, 19*s), // when 5 of the 8 are left
				take(s, 1).allowed(1, 19*s),
				take(s, 1_000_000).never(1, 19*s),
				take(s, 1).allowed(0, 19*s),
			},
		},
		{
			// R29
			name:  "sliding window around the edge of two windows",
			limit: slide(10, s),
			steps: join(
				outcomes(990*ms, 0, "11111111110"),
				[]step{
					take(1010*ms, 1).refused(0, 90*ms, 990*ms),
					take(1100*ms, 1).allowed(0, 1900*ms),
				},
			),
		},
		{
			// R29
			name:  "sliding window around the hour",
			limit: slide(5, h),
			steps: outcomes(h-60*s, 12*s, "11111000000"),
		},
		{
			// R29: it is known to estimate, and so to admit nearly twice its count
			name:  "sliding window admits less than twice its count in any period",
			limit: slide(10, s),
			steps: []step{
				take(s-us, 10).allowed(0, s+us),
				take(2*s-2*us, 9).allowed(0, s+2*us),
				take(2*s-2*us, 1).refused(0, 2*us, s+2*us),
			},
		},
		{
			// R33
			name:  "sliding window of ten years",
			limit: slide(1, 87600*h),
			steps: []step{
				take(0, 1).allowed(0, 175_200*h),
				take(us, 1).refused(0, 175_200*h-us, 175_200*h-us),
				take(175_200*h-us, 1).refused(0, us, us),
				take(175_200*h, 1).allowed(0, 175_200*h),
			},
		},
		{
			// R39
			name:  "sliding window: refund neither gets lost nor lifts above the count",
			limit: slide(10, s),
			steps: []step{
				refund(0, 1),
				take(0, 10).allowed(0, 2*s),
				refund(100*ms, 1),
				take(100*ms, 1).allowed(0, 1900*ms),
				refund(100*ms, 1000),
				peek(100*ms, 10).allowed(10, 0),
			},
		},
		{
			// R40
			name:  "sliding window: refund does not reach into another window",
			limit: slide(2, s),
			steps: []step{
				take(900*ms, 1).allowed(1, 1100*ms),
				refund(1100*ms, 1),
				take(1100*ms, 1).allowed(0, 1900*ms),
				take(1100*ms, 1).refused(0, 900*ms, 1900*ms),
				refund(1100*ms, 5),
				peek(1100*ms, 1).allowed(1, 900*ms),
				refund(2*s, 1), // of nothing
				peek(2*s, 2).allowed(2, 0),
			},
		},
		{
			// R43
			name:  "sliding window: the last permitted call is permitted",
			limit: slide(10, s),
			steps: join(
				times(10, 0, 0, func(st step, i int64) step { return st.allowed(9-i, 2*s) }),
				[]step{take(0, 1).refused(0, 1100*ms, 2*s)},
			),
		},
		{
			// P08
			name:  "sliding window that nobody swept is over all the same",
			limit: slide(1, s),
			steps: []step{
				take(0, 1).allowed(0, 2*s),
				take(3009*ms, 1).allowed(0, 1991*ms),
			},
		},
	}
}

// changedSlidingWindows are the answers when the limit of a sliding window changes.
func changedSlidingWindows() []testCase {
	return []testCase{
		{
			// D01
			name:  "sliding window: a new limit holds at once and keeps what was used",
			limit: slide(100, 60*s),
			steps: []step{
				take(0, 1).allowed(99, 120*s),
				change(slide(10, 60*s)),
				take(10*s, 1).allowed(8, 110*s),
			},
		},
		{
			// D02
			name:  "sliding window: raised and lowered",
			limit: slide(10, 60*s),
			steps: []step{
				take(0, 8).allowed(2, 120*s),
				change(slide(20, 60*s)),
				peek(10*s, 1).allowed(12, 110*s),
				change(slide(5, 60*s)),
				take(10*s, 1).refused(0, 80*s, 110*s), // when 4 of the 8 are left
				change(slide(20, 60*s)),
				peek(10*s, 1).allowed(12, 110*s),
				change(slide(5, 60*s)),
				take(90*s, 1).allowed(0, 90*s),
				take(150*s, 5).refused(4, 30*s, 30*s),
			},
		},
		{
			// D03
			name:  "sliding window: lowered inside the period",
			limit: slide(10, s),
			steps: join(outcomes(0, 0, "111"), []step{change(slide(5, s))}, outcomes(500*ms, 0, "110"), outcomes(2*s, 0, "111110")),
		},
		{
			// D04
			name:  "sliding window: lowered below what is free, and raised",
			limit: slide(5, 5*ms),
			steps: join(
				[]step{peek(0, 1).allowed(5, 0), change(slide(2, 5*ms))},
				outcomes(5*ms, 0, "110"), outcomes(15*ms, 0, "110"), outcomes(500*ms, 0, "110"),
				[]step{change(slide(7, 5*ms))},
				outcomes(510*ms, 0, "11111110"),
			),
		},
		{
			name:  "sliding window: a shorter period keeps what was used just before",
			limit: slide(10, h),
			steps: []step{
				take(h/2, 6).allowed(4, 3*h/2),
				change(slide(10, 60*s)),
				peek(h/2, 1).allowed(4, 120*s),
				peek(h/2+60*s, 1).allowed(4, 60*s),
				peek(h/2+90*s, 1).allowed(7, 30*s),
				take(h/2+120*s, 10).allowed(0, 120*s),
			},
		},
		{
			name:  "sliding window: a longer period keeps both windows",
			limit: slide(10, h),
			steps: []step{
				change(slide(10, 60*s)),
				take(h/2, 6).allowed(4, 120*s),
				take(h/2+60*s, 1).allowed(3, 120*s),
				change(slide(10, h)),
				take(h/2+60*s, 7).refused(6, 540*s, 89*60*s), // when 2 of the 6 before are left
			},
		},
	}
}

// setBackSlidingWindows are the answers when the clock is set back: what was counted counts as of the current window.
func setBackSlidingWindows() []testCase {
	return []testCase{
		{
			// R37
			name:  "sliding window and a clock set back by an hour",
			limit: slide(5, 10*s),
			steps: []step{
				take(2*h, 5).allowed(0, 20*s),
				take(h, 1).refused(0, 12*s, 20*s),
				take(h+12*s-us, 1).refused(0, us, 8*s+us),
				take(h+12*s, 1).allowed(0, 18*s),
			},
		},
		{
			name:  "sliding window and a clock set back, peeked at and set right",
			limit: slide(5, 10*s),
			steps: []step{
				take(2*h, 5).allowed(0, 20*s),
				peek(h, 1).refused(0, 12*s, 20*s),
				take(h, 0).allowed(0, 20*s),
				take(2*h+12*s, 1).allowed(0, 18*s),
			},
		},
	}
}
