package ratelimittest

import "strings"

// slidingLogs are the answers of a sliding log.
func slidingLogs() []testCase {
	return []testCase{
		{
			// R10
			name:  "log and a cost above its count",
			limit: record(5, 60*s),
			steps: []step{
				take(0, 10).never(5, 0),
				take(s, 1).allowed(4, 60*s),
				take(h, 6).never(5, 0),
				take(h, 1).allowed(4, 60*s),
				take(h, 6).never(4, 60*s),
			},
		},
		{
			name:  "log and a cost of just its count",
			limit: record(5, s),
			steps: []step{
				take(0, 1).allowed(4, s),
				take(0, 5).refused(4, s, s),
				take(s, 5).allowed(0, s),
			},
		},
		{
			// R14
			name:  "log: peek and take say the same",
			limit: record(2, s),
			steps: []step{
				peek(0, 1).allowed(2, 0),
				take(0, 1).allowed(1, s),
				take(300*ms, 1).allowed(0, s),
				peek(400*ms, 1).refused(0, 600*ms, 900*ms),
				take(400*ms, 1).refused(0, 600*ms, 900*ms),
				peek(s, 1).allowed(1, 300*ms),
				take(s, 1).allowed(0, s),
			},
		},
		{
			// R19
			name:  "log: retry is that of the oldest entry, reset that of the newest",
			limit: record(2, 60*s),
			steps: []step{
				take(0, 1).allowed(1, 60*s),
				take(10*s, 1).allowed(0, 60*s),
				take(20*s, 1).refused(0, 40*s, 50*s),
				take(60*s-us, 1).refused(0, us, 10*s+us),
				take(60*s, 1).allowed(0, 60*s), // exactly a period old does not count
				take(60*s, 1).refused(0, 10*s, 60*s),
			},
		},
		{
			// R20
			name:  "log: costs of all sizes add up",
			limit: record(10, 60*s),
			steps: []step{
				take(0, 9).allowed(1, 60*s),
				take(s, 1).allowed(0, 60*s),
				take(2*s, 1).refused(0, 58*s, 59*s),
				take(60*s, 10).refused(9, s, s),
				take(60*s, 9).allowed(0, 60*s),
			},
		},
		{
			name:  "log: retry is when enough of the oldest are gone",
			limit: record(10, 60*s),
			steps: []step{
				take(0, 3).allowed(7, 60*s),
				take(s, 3).allowed(4, 60*s),
				take(2*s, 4).allowed(0, 60*s),
				take(3*s, 3).refused(0, 57*s, 59*s),
				take(3*s, 4).refused(0, 58*s, 59*s),
				take(3*s, 6).refused(0, 58*s, 59*s),
				take(3*s, 10).refused(0, 59*s, 59*s),
				take(61*s, 6).allowed(0, 60*s),
			},
		},
		{
			// R23
			name:  "log: refused calls take nothing",
			limit: record(10, 10*s),
			steps: []step{
				take(0, 8).allowed(2, 10*s),
				take(s, 5).refused(2, 9*s, 9*s),
				take(s, 1).allowed(1, 10*s),
				take(s, 1_000_000).never(1, 10*s),
				take(s, 1).allowed(0, 10*s),
			},
		},
		{
			// R25
			name:  "log: what is over is not counted",
			limit: record(3, s),
			steps: []step{
				take(0, 1).allowed(2, s),
				take(0, 1).allowed(1, s),
				take(0, 1).allowed(0, s),
				take(999*ms, 1).refused(0, ms, ms),
				take(s, 1).allowed(2, s),
			},
		},
		{
			// R27
			name:     "log: calls of the same microsecond all count",
			limit:    record(19, 20*s),
			steps:    outcomes(0, 0, strings.Repeat("1", 19)+strings.Repeat("0", 81)),
			admitted: 19,
		},
		{
			// R28
			name:  "log: an old entry lives as long as a new one",
			limit: record(10, h),
			steps: join(
				outcomes(0, 0, "1"),
				outcomes(59*60*s, 0, "11111111"),
				outcomes(61*60*s, 0, "110000000"),
			),
		},
		{
			// R29
			name:  "log around the hour",
			limit: record(5, h),
			steps: outcomes(h-60*s, 12*s, "11111000000"),
		},
		{
			// R29
			name:  "log admits its count in any period",
			limit: record(10, s),
			steps: join(
				outcomes(990*ms, 0, "1111111111"),
				[]step{
					take(1010*ms, 1).refused(0, 980*ms, 980*ms),
					take(1990*ms-us, 1).refused(0, us, us),
					take(1990*ms, 10).allowed(0, s),
				},
			),
		},
		{
			// R33
			name:  "log of ten years",
			limit: record(1, 87600*h),
			steps: []step{
				take(0, 1).allowed(0, 87600*h),
				take(us, 1).refused(0, 87600*h-us, 87600*h-us),
				take(87600*h, 1).allowed(0, 87600*h),
			},
		},
		{
			// R39
			name:  "log: refund neither gets lost nor lifts above the count",
			limit: record(10, s),
			steps: []step{
				refund(0, 1), // of nothing
				take(0, 10).allowed(0, s),
				refund(100*ms, 1),
				take(100*ms, 1).allowed(0, s),
				refund(100*ms, 1000),
				peek(100*ms, 10).allowed(10, 0),
			},
		},
		{
			// R39
			name:  "log: what was given back does not come back again",
			limit: record(10, s),
			steps: []step{
				take(0, 1).allowed(9, s),
				refund(100*ms, 1),
				peek(1100*ms, 10).allowed(10, 0),
				take(1100*ms, 10).allowed(0, s),
			},
		},
		{
			// R40
			name:  "log: refund of what is over",
			limit: record(2, s),
			steps: []step{
				take(0, 1).allowed(1, s),
				refund(1100*ms, 1),
				take(1200*ms, 1).allowed(1, s),
				take(1200*ms, 1).allowed(0, s),
				take(1200*ms, 1).refused(0, s, s),
			},
		},
		{
			// R43
			name:  "log: the last permitted call is permitted",
			limit: record(10, s),
			steps: join(
				times(10, 0, 0, func(st step, i int64) step { return st.allowed(9-i, s) }),
				[]step{take(0, 1).refused(0, s, s)},
			),
		},
		{
			// S11 (a)
			name:  "log under steady excess",
			limit: record(5, 900*s),
			steps: join(
				outcomes(0, 10*ms, "11111"+strings.Repeat("0", 500)),
				[]step{
					take(900*s-us, 1).refused(0, us, 40*ms+us),
					take(900*s, 1).allowed(0, 900*s),
				},
			),
			admitted: 6,
		},
		{
			// S11 (b)
			name:  "log of calls that are never too many",
			limit: record(5, 5*s),
			steps: times(31, 0, 2*s, func(st step, i int64) step { return st.allowed(max(2, 4-i), 5*s) }),
		},
		{
			name:  "log: a cost of a million is one entry like another",
			limit: record(1_000_000_000, h),
			steps: []step{
				take(0, 999_000_000).allowed(1_000_000, h),
				take(s, 1_000_000).allowed(0, h),
				take(2*s, 1).refused(0, h-2*s, h-s),
				take(h, 1_000_000).allowed(998_000_000, h),
			},
		},
		{
			name:  "log of more than a million: calls of one tick share an entry",
			limit: record(2_000_000, 10*s), // of 10 µs ticks
			steps: []step{
				take(20*us, 1_000_000).allowed(1_000_000, 10*s),
				take(29*us, 500_000).allowed(500_000, 10*s), // together they count from here
				take(30*us, 500_000).allowed(0, 10*s),       // this is the next tick
				take(10*s+20*us, 1).refused(0, 9*us, 10*us),
				take(10*s+29*us, 1_500_000).allowed(0, 10*s),
			},
		},
		{
			name:  "log of a million: each microsecond has its entry",
			limit: record(1_000_000, 10*s),
			steps: []step{
				take(20*us, 500_000).allowed(500_000, 10*s),
				take(21*us, 500_000).allowed(0, 10*s),
				take(10*s+20*us, 500_000).allowed(0, 10*s),
				take(10*s+20*us, 1).refused(0, us, 10*s),
			},
		},
		{
			name:  "log: refund of calls of one tick",
			limit: record(2_000_000, 10*s),
			steps: []step{
				take(20*us, 1_000_000).allowed(1_000_000, 10*s),
				take(29*us, 1_000_000).allowed(0, 10*s),
				refund(29*us, 1_500_000),
				peek(30*us, 2_000_000).refused(1_500_000, 10*s-us, 10*s-us),
			},
		},
	}
}
