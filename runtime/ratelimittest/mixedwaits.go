package ratelimittest

// mixedWaits are the answers to calls on one bucket that wait for different times.
func mixedWaits() []testCase {
	return []testCase{
		{
			name:  "waiting: no debt is believed that nobody could have made",
			limit: burst(1, s, 2),
			steps: []step{
				waits(10 * s),
				take(0, 2).allowed(0, 2*s),
				take(0, 2).delayed(2*s, 4*s),
				take(0, 2).delayed(4*s, 6*s),
				waits(0),
				peek(0, 1).refused(0, s, 2*s),
				waits(s),
				peek(0, 1).refused(0, 2*s, 4*s), // a second, and the unit that may have been on its way
				waits(10 * s),
				peek(0, 1).delayed(5*s, 6*s),
			},
		},
		{
			name:  "mixed waits: a refund keeps the turns of those who wait for longer",
			limit: burst(1, s, 2),
			steps: []step{
				waits(10 * s),
				take(0, 2).allowed(0, 2*s),
				take(0, 2).delayed(2*s, 4*s),
				take(0, 2).delayed(4*s, 6*s),
				waits(0),
				refund(0, 1),
				waits(10 * s),
				peek(0, 1).delayed(4*s, 5*s),
			},
		},
		{
			name:  "mixed waits at an interval: a refund keeps the turns of those who wait for longer",
			limit: interval(2, 10*s, 2),
			steps: []step{
				waits(30 * s),
				take(0, 2).allowed(0, 10*s),
				take(0, 2).delayed(10*s, 20*s),
				take(0, 2).delayed(20*s, 30*s),
				waits(0),
				refund(0, 1),
				waits(30 * s),
				take(0, 1).delayed(20*s, 30*s),
				take(0, 1).delayed(30*s, 40*s),
			},
		},
		{
			name:  "mixed waits in a leaky bucket: nobody overtakes those who wait for longer",
			limit: leak(1, s, 2),
			steps: []step{
				waits(10 * s),
				take(0, 2).allowed(0, 2*s),
				take(0, 2).delayed(2*s, 4*s),
				take(0, 2).delayed(4*s, 6*s),
				waits(0),
				take(0, 1).refused(0, 5*s, 6*s),
				waits(s),
				take(0, 1).refused(0, 4*s, 6*s),
				refund(0, 1),
				take(0, 1).refused(0, 3*s, 5*s),
				take(3*s, 1).delayed(s, 3*s),
				waits(0),
				take(4*s-us, 1).refused(0, s+us, 2*s+us),
			},
		},
	}
}
