package ratelimittest

// changedLeases are the answers when the lease of a concurrency limit changes: it holds for leases that begin.
func changedLeases() []testCase {
	return []testCase{
		{
			// D02
			name:  "slots: raised and lowered",
			limit: slots(10, 60*s),
			steps: []step{
				take(0, 8).by("A").allowed(2, 60*s),
				change(slots(20, 60*s)),
				peek(10*s, 1).allowed(12, 50*s),
				change(slots(5, 60*s)),
				take(10*s, 1).by("B").refused(0, 50*s, 50*s),
				change(slots(20, 60*s)),
				peek(10*s, 1).allowed(12, 50*s),
				change(slots(5, 60*s)),
				take(60*s, 5).by("B").allowed(0, 60*s),
			},
		},
		{
			name:  "slots: a lease is what its holder was promised",
			limit: slots(2, 10*s),
			steps: []step{
				take(0, 1).by("A").allowed(1, 10*s),
				change(slots(2, 100*s)),
				take(0, 1).by("B").allowed(0, 100*s),
				take(0, 1).by("C").refused(0, 10*s, 100*s),
				take(10*s, 1).by("C").allowed(0, 100*s),
				change(slots(2, s)),
				renew(20*s, 1).by("B").held(), // until earlier than before
				take(20*s, 1).by("A").refused(0, s, 90*s),
				take(21*s, 1).by("A").allowed(0, 89*s),
			},
		},
	}
}

// setBackLeases are the answers when the clock is set back: leases end when they were to end.
func setBackLeases() []testCase {
	return []testCase{
		{
			// R37
			name:  "slots and a clock set back",
			limit: slots(1, 10*s),
			steps: []step{
				take(h, 1).by("A").allowed(0, 10*s),
				take(h-60*s, 1).by("B").refused(0, 70*s, 70*s), // longer by the step
				renew(h-60*s, 1).by("A").held(),                // and not for ever
				take(h-60*s, 1).by("B").refused(0, 10*s, 10*s),
				take(h-50*s, 1).by("B").allowed(0, 10*s),
				refund(h-2*60*s, 1).by("B"),
				take(h-2*60*s, 1).by("C").allowed(0, 10*s),
			},
		},
		{
			name:  "slots: leases that had ended, and a clock set back",
			limit: slots(4, 10*s),
			steps: []step{
				take(h, 1).by("A").allowed(3, 10*s),
				take(h+5*s, 1).by("B").allowed(2, 10*s),
				peek(h+12*s, 1).allowed(3, 3*s), // looking drops none
				renew(h+12*s, 1).by("B").held(), // nor does a renewal
				peek(h+8*s, 1).allowed(2, 14*s),
				take(h+12*s, 1).by("C").allowed(2, 10*s), // drops A's
				peek(h+8*s, 1).allowed(2, 14*s),
				take(h+20*s, 1).by("D").allowed(1, 10*s),
				refund(h+25*s, 1).by("A").gone(),
				peek(h+20*s, 1).allowed(1, 10*s), // what did not succeed dropped none
				take(h+25*s, 1).by("E").allowed(2, 10*s),
				take(h+25*s, 1).by("F").allowed(1, 10*s),
				refund(h+32*s, 1).by("E"),
				peek(h+28*s, 1).allowed(2, 7*s), // it dropped its own only
			},
		},
	}
}
