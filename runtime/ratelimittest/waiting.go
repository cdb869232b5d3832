package ratelimittest

import "time"

// waiting are the answers of a token bucket to calls that wait for their turn.
func waiting() []testCase {
	return []testCase{
		{
			// R42 (a)
			name:  "waiting: as many as come back in the time that they wait",
			limit: burst(5, s, 1),
			steps: join([]step{waits(s)}, times(1000, 0, 0, func(st step, i int64) step {
				switch turn := time.Duration(i) * 200 * ms; {
				case i == 0:
					return st.allowed(0, 200*ms)
				case i <= 5:
					return st.delayed(turn, turn+200*ms)
				}
				return st.refused(0, 200*ms, 1200*ms)
			})),
			admitted: 6,
		},
		{
			// R42 (b)
			name:  "waiting: one after the other",
			limit: burst(1, s, 1),
			steps: []step{
				waits(5 * s),
				take(0, 1).allowed(0, s),
				take(0, 1).delayed(s, 2*s),
				take(0, 1).delayed(2*s, 3*s),
				take(3*s, 1).allowed(0, s),
			},
		},
		{
			name:  "waiting: retry is until the wait is long enough",
			limit: burst(1, s, 1),
			steps: []step{
				waits(1500 * ms),
				take(0, 1).allowed(0, s),
				take(0, 1).delayed(s, 2*s),
				take(0, 1).refused(0, 500*ms, 2*s),
				take(500*ms-us, 1).refused(0, us, 1500*ms+us),
				take(500*ms, 1).delayed(1500*ms, 2500*ms),
			},
		},
		{
			name:  "waiting: a microsecond too little",
			limit: burst(10, 13*s, 1),
			steps: []step{
				waits(1300*ms - us),
				take(0, 1).allowed(0, 1300*ms),
				take(0, 1).refused(0, us, 1300*ms),
				take(us, 1).delayed(1300*ms-us, 2600*ms-us),
			},
		},
		{
			name:  "waiting: turns are not rounded",
			limit: burst(3, s, 1),
			steps: []step{
				waits(s),
				take(0, 1).allowed(0, 333_334*us),
				take(0, 1).delayed(333_334*us, 666_667*us),
				take(0, 1).delayed(666_667*us, s),
				take(0, 1).delayed(s, 1_333_334*us),
				take(0, 1).refused(0, 333_334*us, 1_333_334*us),
			},
		},
		{
			// R14
			name:  "waiting: peek and take say the same",
			limit: burst(10, s, 5),
			steps: []step{
				waits(100 * ms),
				peek(0, 5).allowed(5, 0),
				take(0, 5).allowed(0, 500*ms),
				peek(30*ms, 1).delayed(70*ms, 470*ms), // as it stands, before the charge
				take(30*ms, 1).delayed(70*ms, 570*ms),
				peek(30*ms, 1).refused(0, 70*ms, 570*ms),
				take(30*ms, 1).refused(0, 70*ms, 570*ms),
			},
		},
		{
			name:  "waiting: costs of all sizes",
			limit: burst(1, s, 3),
			steps: []step{
				waits(2 * s),
				take(0, 4).never(3, 0),
				take(0, 2).allowed(1, 2*s),
				take(0, 3).delayed(2*s, 5*s),
				take(s, 4).never(0, 4*s),
				take(s, 1).delayed(2*s, 5*s),
				take(s, 3).refused(0, 3*s, 5*s),
				take(s, 0).allowed(0, 5*s),
				take(5*s, 1).allowed(1, 2*s),
			},
		},
		{
			name:  "waiting for ten years",
			limit: burst(1, 87600*h, 1),
			steps: []step{
				waits(87600 * h),
				take(0, 1).allowed(0, 87600*h),
				take(0, 1).delayed(87600*h, 175_200*h),
				take(us, 1).refused(0, 87600*h-us, 175_200*h-us),
				take(87600*h, 1).delayed(87600*h, 175_200*h),
			},
		},
		{
			name:  "waiting for a billion",
			limit: burst(1_000_000, s, 1_000_000_000),
			steps: []step{
				waits(1000 * s),
				take(0, 1_000_000_000).allowed(0, 1000*s),
				take(0, 1_000_000_000).delayed(1000*s, 2000*s),
				take(0, 1).refused(0, us, 2000*s),
				take(us, 1).delayed(1000*s, 2000*s),
			},
		},
		{
			// R42
			name:  "waiting: the last one that gives up gives its place back",
			limit: burst(1, s, 1),
			steps: []step{
				waits(10 * s),
				take(0, 1).allowed(0, s),
				take(0, 1).delayed(s, 2*s),
				take(0, 1).delayed(2*s, 3*s),
				refund(500*ms, 1).early(1500 * ms),
				take(500*ms, 1).delayed(1500*ms, 2500*ms),
				refund(2*s-us, 1).early(us),
				take(2*s-us, 1).delayed(us, s+us),
			},
		},
		{
			// R42
			name:  "waiting: those behind one that gives up keep their turns",
			limit: burst(1, s, 1),
			steps: []step{
				waits(10 * s),
				take(0, 1).allowed(0, s),
				take(0, 1).delayed(s, 2*s),
				take(0, 1).delayed(2*s, 3*s),
				take(0, 1).delayed(3*s, 4*s),
				refund(500*ms, 1).early(500 * ms), // before two others
				peek(500*ms, 1).delayed(3500*ms, 3500*ms),
				refund(500*ms, 1).early(2500 * ms), // the last one
				take(500*ms, 1).delayed(2500*ms, 3500*ms),
			},
		},
		{
			name:  "waiting: one that gives up a large place gives back what nobody is behind",
			limit: burst(1, s, 4),
			steps: []step{
				waits(10 * s),
				take(0, 4).allowed(0, 4*s),
				take(0, 3).delayed(3*s, 7*s),
				take(0, 1).delayed(4*s, 8*s),
				refund(s, 3).early(2 * s), // two of three: the last one goes at 4 s
				take(s, 1).delayed(2*s, 6*s),
			},
		},
		{
			name:  "waiting: a call that has gone gives back all",
			limit: burst(1, s, 1),
			steps: []step{
				waits(10 * s),
				take(0, 1).allowed(0, s),
				take(0, 1).delayed(s, 2*s),
				refund(0, 1),
				take(0, 1).delayed(s, 2*s),
				refund(0, 100),
				peek(0, 1).allowed(1, 0),
			},
		},
		{
			name:  "waiting at an interval: all of a period have their turn at its end",
			limit: interval(2, 10*s, 2),
			steps: []step{
				waits(15 * s),
				take(3*s, 2).allowed(0, 10*s),
				take(3*s, 1).delayed(10*s, 20*s),
				take(3*s, 1).delayed(10*s, 20*s),
				take(3*s, 1).refused(0, 5*s, 20*s),
				take(8*s-us, 1).refused(0, us, 15*s+us),
				take(8*s, 1).delayed(15*s, 25*s),
				take(13*s, 1).delayed(10*s, 20*s), // of the same period
				take(13*s, 1).refused(0, 5*s, 20*s),
				peek(33*s, 2).allowed(2, 0),
			},
		},
		{
			// R42
			name:  "waiting at an interval: those behind one that gives up keep their turns",
			limit: interval(3, 10*s, 3),
			steps: []step{
				waits(30 * s),
				take(0, 3).allowed(0, 10*s),
				take(0, 1).delayed(10*s, 20*s),
				take(0, 2).delayed(10*s, 20*s),
				refund(s, 1).early(9 * s), // before nobody who has to wait longer
				take(s, 1).delayed(9*s, 19*s),
				take(s, 1).delayed(19*s, 29*s),
				refund(2*s, 2).early(8 * s), // one of two: another has the next turn
				take(2*s, 3).delayed(18*s, 28*s),
				peek(2*s, 1).delayed(28*s, 28*s),
			},
		},
		{
			name:  "waiting at an interval: no debt is believed that nobody could have made",
			limit: interval(2, 10*s, 2),
			steps: []step{
				waits(30 * s),
				take(0, 2).allowed(0, 10*s),
				take(0, 2).delayed(10*s, 20*s),
				take(0, 2).delayed(20*s, 30*s),
				take(0, 2).delayed(30*s, 40*s),
				waits(0),
				peek(0, 1).refused(0, 10*s, 10*s),
				waits(5 * s),
				peek(0, 1).refused(0, 15*s, 20*s),
				waits(10 * s),
				peek(0, 1).refused(0, 20*s, 30*s),
			},
		},
	}
}

// waitingSetBack are the answers to calls that wait when the clock is set back.
func waitingSetBack() []testCase {
	return []testCase{
		{
			// R37
			name:  "waiting and a clock set back by an hour",
			limit: burst(1, s, 1),
			steps: []step{
				waits(2 * s),
				take(2*h, 1).allowed(0, s),
				take(2*h, 1).delayed(s, 2*s),
				take(h, 1).delayed(2*s, 3*s),
				take(h, 1).refused(0, s, 3*s),
				take(h+s, 1).delayed(2*s, 3*s),
			},
		},
		{
			name:  "mixed waits and a clock set back: a refused call keeps the turns of those who wait for longer",
			limit: burst(1, s, 1),
			steps: []step{
				waits(10 * s),
				take(2*h, 1).allowed(0, s),
				take(2*h, 1).delayed(s, 2*s),
				take(2*h, 1).delayed(2*s, 3*s),
				waits(0),
				take(h, 1).refused(0, s, s),
				waits(10 * s),
				take(h, 1).delayed(3*s, 4*s),
			},
		},
		{
			// R37
			name:  "waiting in a leaky bucket, and a clock set back by an hour",
			limit: leak(1, s, 1),
			steps: []step{
				waits(2 * s),
				take(2*h, 1).allowed(0, s),
				take(h, 1).refused(0, h-s, h+s),
				take(2*h-s, 1).delayed(2*s, 3*s),
			},
		},
	}
}
