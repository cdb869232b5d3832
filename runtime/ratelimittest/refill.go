package ratelimittest

import (
	"strings"
	"time"
)

// refills are the answers of a token bucket by which tokens come back as they should.
func refills() []testCase {
	return []testCase{
		{
			// R09
			name:  "slow refill of an idle bucket",
			limit: burst(1, 15*s, 3),
			steps: []step{
				take(0, 1).allowed(2, 15*s),
				take(0, 1).allowed(1, 30*s),
				take(0, 1).allowed(0, 45*s),
				take(10*s, 1).refused(0, 5*s, 35*s),
				take(15*s, 1).allowed(0, 45*s),
				take(15*s, 1).refused(0, 15*s, 45*s),
			},
		},
		{
			// R17
			name:  "refill is continuous",
			limit: tokens(3, s),
			steps: join(
				outcomes(0, 100*ms, "111010010010001001001000100100"),
				times(71, 3*s, 100*ms, func(st step, _ int64) step { return st }),
			),
			admitted: 33,
		},
		{
			// R18
			name:  "refill is not lost to steady calls",
			limit: tokens(10, 30*s),
			steps: join(
				times(11, 0, s, func(st step, i int64) step {
					used := i + 1 - i/3 // one comes back every three seconds
					return st.allowed(10-used, time.Duration(used*3-i%3)*s)
				}),
				[]step{take(h+10*s, 1).allowed(9, 3*s)},
			),
		},
		{
			// R32 (a)
			name:  "ten per thirteen seconds are due every 1.3 s",
			limit: burst(10, 13*s, 1),
			steps: outcomes(0, 1300*ms, strings.Repeat("1", 1000)),
		},
		{
			// R32 (b)
			name:  "one an hour is due every hour",
			limit: burst(1, h, 1),
			steps: join(outcomes(0, h, strings.Repeat("1", 1000)), outcomes(1010*h, h, "1")),
		},
		{
			// R33
			name:  "one in ten years",
			limit: burst(1, 87600*h, 1),
			steps: []step{
				take(0, 1).allowed(0, 87600*h),
				take(0, 1).refused(0, 87600*h, 87600*h),
				take(87600*h-us, 1).refused(0, us, us),
				take(87600*h, 1).allowed(0, 87600*h),
			},
		},
		{
			name:  "the slowest limit there is",
			limit: burst(1, 87600*h, 10),
			steps: []step{
				take(0, 10).allowed(0, 876000*h),
				take(us, 1).refused(0, 87600*h-us, 876000*h-us),
				take(us, 10).refused(0, 876000*h-us, 876000*h-us),
			},
		},
		{
			// R36
			name:  "a large capacity is full again after a tenth of a second",
			limit: tokens(65535, s),
			steps: times(20, 0, 100*ms, func(st step, _ int64) step { return st.allowed(65534, 16*us) }), // 15.26 µs
		},
		{
			// R41
			name:  "idle time earns no more than the burst",
			limit: burst(1, s, 2),
			steps: join(outcomes(0, s, "1"), outcomes(2*s, 0, "11000"), outcomes(h, 0, "11000")),
		},
		{
			// P07
			name:  "one in a thousand hours",
			limit: burst(1, 1000*h, 1),
			steps: []step{
				take(0, 1).allowed(0, 1000*h),
				take(h, 1).refused(0, 999*h, 999*h),
			},
		},
		{
			// U03
			name:  "one per two seconds",
			limit: tokens(1, 2*s),
			steps: []step{
				take(0, 1).allowed(0, 2*s),
				take(s, 1).refused(0, s, s),
				take(2*s, 1).allowed(0, 2*s),
			},
		},
		{
			// U03
			name:  "a hundred thousand a day",
			limit: burst(100_000, 24*h, 1),
			steps: []step{
				take(0, 1).allowed(0, 864*ms),
				take(864*ms-us, 1).refused(0, us, us),
				take(864*ms, 1).allowed(0, 864*ms),
			},
		},
		{
			// U03, the rate of three thousand millions a day
			name:  "one every 28.8 microseconds",
			limit: burst(500_000_000, 4*h, 2),
			steps: []step{
				take(0, 2).allowed(0, 58*us),
				take(28*us, 1).refused(0, us, 30*us),
				take(29*us, 1).allowed(0, 58*us), // of the 29 µs, 0.2 are kept
				take(57*us, 1).refused(0, us, 30*us),
				take(58*us, 1).allowed(0, 58*us),
			},
		},
		{
			// U05
			name:  "a second and a half",
			limit: tokens(1, 1500*ms),
			steps: []step{
				peek(0, 0).allowed(1, 0),
				take(0, 0).allowed(1, 0),
				take(0, 1).allowed(0, 1500*ms),
				take(0, 0).allowed(0, 1500*ms),
				take(1500*ms-us, 1).refused(0, us, us),
				take(1500*ms, 1).allowed(0, 1500*ms),
			},
		},
		{
			name:  "interval gives back all of a period at its end",
			limit: interval(2, 10*s, 5),
			steps: []step{
				take(3*s, 1).allowed(4, 10*s), // the first period starts here
				take(5*s, 4).allowed(0, 28*s),
				take(12*s, 1).refused(0, s, 21*s),
				take(13*s-us, 1).refused(0, us, 20*s+us),
				take(13*s, 3).refused(2, 10*s, 20*s),
				take(13*s, 2).allowed(0, 30*s),
				take(44*s, 5).allowed(0, 30*s), // as new since 43 s, so that a new period starts
				take(44*s, 5).refused(0, 30*s, 30*s),
			},
		},
		{
			name:  "interval keeps its period through a refund",
			limit: interval(2, 10*s, 5),
			steps: []step{
				take(0, 5).allowed(0, 30*s),
				refund(4*s, 3),
				peek(4*s, 4).refused(3, 6*s, 6*s),
				peek(10*s, 5).allowed(5, 0),
			},
		},
	}
}
