package ratelimittest

import (
	"strings"
	"time"
)

// fixedWindows are the answers of a fixed window.
func fixedWindows() []testCase {
	return []testCase{
		{
			name:  "window starts at the first admitted call and ends a period later",
			limit: window(2, s),
			steps: []step{
				take(300*ms, 1).allowed(1, s),
				take(1200*ms, 1).allowed(0, 100*ms),
				take(1200*ms, 1).refused(0, 100*ms, 100*ms),
				take(1300*ms-us, 1).refused(0, us, us),
				take(1300*ms, 1).allowed(1, s),
			},
		},
		{
			// R10
			name:  "window and a cost above its count",
			limit: window(5, 60*s),
			steps: []step{
				take(0, 10).never(5, 0),
				take(1*s, 1).allowed(4, 60*s), // the refused call started no window
				take(h, 6).never(5, 0),
				take(h, 1).allowed(4, 60*s),
				take(h, 6).never(4, 60*s),
			},
		},
		{
			name:  "window and a cost of just its count",
			limit: window(5, s),
			steps: []step{
				take(0, 1).allowed(4, s),
				take(0, 5).refused(4, s, s),
				take(s, 5).allowed(0, s),
			},
		},
		{
			name:  "window: a call of cost 0 starts nothing",
			limit: window(1, s),
			steps: []step{
				take(0, 0).allowed(1, 0),
				take(500*ms, 1).allowed(0, s),
				take(500*ms, 0).allowed(0, s),
				take(1500*ms, 1).allowed(0, s),
			},
		},
		{
			// R14
			name:  "window: peek and take say the same",
			limit: window(2, s),
			steps: []step{
				peek(0, 1).allowed(2, 0),
				take(0, 2).allowed(0, s),
				peek(400*ms, 1).refused(0, 600*ms, 600*ms),
				take(400*ms, 1).refused(0, 600*ms, 600*ms),
				peek(s, 1).allowed(2, 0),
			},
		},
		{
			// R23
			name:  "window: refused calls take nothing",
			limit: window(10, 10*s),
			steps: []step{
				take(0, 8).allowed(2, 10*s),
				take(s, 5).refused(2, 9*s, 9*s),
				take(s, 1).allowed(1, 9*s),
				take(s, 1_000_000).never(1, 9*s),
				take(s, 1).allowed(0, 9*s),
			},
		},
		{
			// R26 (a)
			name:  "window is not renewed by calls",
			limit: window(5, 60*s),
			steps: times(60, 0, 10*s, func(st step, i int64) step {
				end := 60*s - time.Duration(i%6)*10*s
				if i%6 == 5 {
					return st.refused(0, end, end)
				}
				return st.allowed(4-i%6, end)
			}),
			admitted: 50,
		},
		{
			// R26 (b)
			name:     "window under steady excess",
			limit:    window(100, 60*s),
			steps:    outcomes(0, 400*ms, strings.Repeat(strings.Repeat("1", 100)+strings.Repeat("0", 50), 3)),
			admitted: 300,
		},
		{
			// R29: it is known to admit twice its count around the edge of two windows
			name:  "window admits at most twice its count in any period",
			limit: window(10, s),
			steps: join(
				outcomes(0, 0, "1"),
				outcomes(990*ms, 0, "1111111110"),
				outcomes(1010*ms, 0, "11111111110"),
				outcomes(1990*ms, 0, "0"),
			),
		},
		{
			// R33
			name:  "window of ten years",
			limit: window(1, 87600*h),
			steps: []step{
				take(0, 1).allowed(0, 87600*h),
				take(us, 1).refused(0, 87600*h-us, 87600*h-us),
				take(87600*h, 1).allowed(0, 87600*h),
			},
		},
		{
			// R39
			name:  "window: refund neither gets lost nor lifts above the count",
			limit: window(10, s),
			steps: []step{
				refund(0, 1),
				take(0, 10).allowed(0, s),
				refund(100*ms, 1),
				take(100*ms, 1).allowed(0, 900*ms),
				refund(100*ms, 1000),
				peek(100*ms, 10).allowed(10, 0),
			},
		},
		{
			// R40
			name:  "window: refund does not reach into a later one",
			limit: window(2, s),
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
			name:  "window: the last permitted call is permitted",
			limit: window(10, s),
			steps: join(
				times(10, 0, 0, func(st step, i int64) step { return st.allowed(9-i, s) }),
				[]step{take(0, 1).refused(0, s, s)},
			),
		},
		{
			// D08
			name:  "window: one after the other admits its count",
			limit: window(60, 920*ms),
			steps: outcomes(0, 10*ms, strings.Repeat(strings.Repeat("1", 60)+strings.Repeat("0", 32), 5)),
		},
		{
			// D08
			name:  "window: one after the other admits its count, whatever the one before was",
			limit: window(60, 920*ms),
			steps: join(
				outcomes(0, 10*ms, strings.Repeat("1", 60)+strings.Repeat("0", 32)),
				[]step{change(window(30, 920*ms))},
				outcomes(920*ms, 10*ms, strings.Repeat("1", 30)+strings.Repeat("0", 62)),
				[]step{change(window(60, 460*ms))},
				outcomes(1840*ms, 5*ms, strings.Repeat(strings.Repeat("1", 60)+strings.Repeat("0", 32), 4)),
			),
		},
		{
			// P08
			name:  "window that nobody swept is over all the same",
			limit: window(1, s),
			steps: []step{
				take(0, 1).allowed(0, s),
				take(3009*ms, 1).allowed(0, s),
			},
		},
	}
}
