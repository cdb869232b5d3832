package ratelimittest

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// tokenBuckets are the answers of a token bucket.
func tokenBuckets() []testCase {
	cases := []testCase{
		{
			// R01
			name:  "an allowed call has no retry",
			limit: burst(1, 10*s, 1),
			steps: []step{
				take(0, 1).allowed(0, 10*s),
				take(200*ms, 1).refused(0, 9800*ms, 9800*ms),
				take(400*ms, 1).refused(0, 9600*ms, 9600*ms),
				take(9800*ms, 1).refused(0, 200*ms, 200*ms),
				take(10*s, 1).allowed(0, 10*s),
			},
		},
		{
			// R02
			name:  "retry is not rounded",
			limit: burst(10, 13*s, 1),
			steps: []step{
				take(0, 1).allowed(0, 1300*ms),
				take(100*ms, 1).refused(0, 1200*ms, 1200*ms),
				take(1300*ms-us, 1).refused(0, us, us),
				take(1300*ms, 1).allowed(0, 1300*ms),
			},
		},
		{
			// R03 (a)
			name:  "sixty milliseconds a token",
			limit: burst(1000, 60*s, 1001),
			steps: []step{
				take(0, 1).allowed(1000, 60*ms),
				take(1*ms, 1).allowed(999, 119*ms),
				take(2*ms, 1).allowed(998, 178*ms),
			},
		},
		{
			// R03 (b)
			name:  "half a millisecond a token",
			limit: burst(2000, s, 1),
			steps: join(
				[]step{
					take(0, 1).allowed(0, 500*us),
					take(200*us, 1).refused(0, 300*us, 300*us),
					take(500*us, 1).allowed(0, 500*us),
				},
				outcomes(s, 100*us, strings.Repeat("10000", 200)),
			),
		},
		{
			// R05
			name:  "a microsecond a token",
			limit: burst(1_000_000, s, 1),
			steps: []step{
				take(0, 1).allowed(0, us),
				take(0, 1).refused(0, us, us),
				take(us, 1).allowed(0, us),
			},
		},
		{
			// R06, R08: the store sees to the time to live, see its own tests
			name:  "back in under a second",
			limit: burst(10, s, 1),
			steps: []step{
				take(0, 1).allowed(0, 100*ms),
				take(100*ms, 1).allowed(0, 100*ms),
			},
		},
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
			// R10
			name:  "cost above capacity",
			limit: tokens(5, 60*s),
			steps: []step{
				take(0, 10).never(5, 0),
				take(0, 1).allowed(4, 12*s),
				take(h, 10).never(5, 0),
				take(h, 6).never(5, 0),
				take(h, math.MaxInt64).never(5, 0), // U05
				take(h, 1).allowed(4, 12*s),
			},
		},
		{
			// R11
			name:  "cost of just the capacity",
			limit: burst(1, s, 5),
			steps: []step{
				take(0, 1).allowed(4, s),
				take(0, 5).refused(4, s, s),
				take(s, 5).allowed(0, 5*s),
			},
		},
		{
			// R12
			name:  "never after a long idle time",
			limit: burst(1, s, 5),
			steps: []step{
				take(0, 1).allowed(4, s),
				take(11*s, 6).never(5, 0),
			},
		},
		{
			// R14
			name:  "peek and take say the same",
			limit: burst(10, s, 5),
			steps: []step{
				peek(0, 1).allowed(5, 0),
				take(0, 5).allowed(0, 500*ms),
				peek(30*ms, 1).refused(0, 70*ms, 470*ms),
				take(30*ms, 1).refused(0, 70*ms, 470*ms),
				peek(100*ms, 1).allowed(1, 400*ms), // as it stands, before the charge
				take(100*ms, 1).allowed(0, 500*ms),
			},
		},
		{
			// R15
			name:  "retry is not reset",
			limit: burst(1, s, 5),
			steps: []step{
				take(0, 5).allowed(0, 5*s),
				take(0, 1).refused(0, s, 5*s),
			},
		},
		{
			// R16 (a)
			name:  "retry and reset of a bucket of one",
			limit: burst(3, 60*s, 1),
			steps: []step{
				take(0, 1).allowed(0, 20*s),
				take(1*s, 1).refused(0, 19*s, 19*s),
				take(2*s, 1).refused(0, 18*s, 18*s),
			},
		},
		{
			// R16 (b)
			name:  "reset of several units",
			limit: tokens(10, 30*s),
			steps: []step{take(0, 5).allowed(5, 15*s)},
		},
		{
			// R16 (c)
			name:  "reset of one unit of many",
			limit: burst(30, 60*s, 16),
			steps: []step{take(0, 1).allowed(15, 2*s)},
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
			// R23
			name:  "refused calls take nothing",
			limit: tokens(10, 10*s),
			steps: []step{
				take(0, 8).allowed(2, 8*s),
				take(0, 5).refused(2, 3*s, 8*s),
				take(0, 1).allowed(1, 9*s),
				take(0, 1_000_000).never(1, 9*s),
				take(0, 1).allowed(0, 10*s),
			},
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
			// R39
			name:  "refund neither gets lost nor lifts above capacity",
			limit: burst(1, s, 10),
			steps: []step{
				refund(0, 3),
				peek(0, 1).allowed(10, 0),
				take(0, 10).allowed(0, 10*s),
				take(0, 1).refused(0, s, 10*s),
				refund(0, 1),
				take(0, 1).allowed(0, 10*s),
				refund(500*ms, 2), // keeps the half token
				peek(500*ms, 3).refused(2, 500*ms, 7500*ms),
				refund(500*ms, 1000),
				peek(500*ms, 10).allowed(10, 0),
				take(500*ms, 10).allowed(0, 10*s),
			},
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
			// U01
			name:  "six a minute, and no burst said",
			limit: tokens(6, 60*s),
			steps: join(
				times(6, 0, 0, func(st step, i int64) step { return st.allowed(5-i, time.Duration(i+1)*10*s) }),
				[]step{take(0, 1).refused(0, 10*s, 60*s)},
			),
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
	for _, n := range []int64{1, 2, 10} {
		cases = append(cases, testCase{
			// R13, R43
			name:  fmt.Sprintf("burst %d admits as many at once", n),
			limit: burst(10, s, n),
			steps: join(
				times(int(n), 0, 0, func(st step, i int64) step { return st.allowed(n-1-i, time.Duration(i+1)*100*ms) }),
				[]step{
					take(0, 1).refused(0, 100*ms, time.Duration(n)*100*ms),
					take(100*ms, 1).allowed(0, time.Duration(n)*100*ms),
				},
			),
		})
	}
	return cases
}
