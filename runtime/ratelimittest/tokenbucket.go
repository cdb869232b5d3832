package ratelimittest

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// tokenBuckets are the answers of a token bucket.
func tokenBuckets() []testCase {
	cases := append(refills(), []testCase{
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
			// U01
			name:  "six a minute, and no burst said",
			limit: tokens(6, 60*s),
			steps: join(
				times(6, 0, 0, func(st step, i int64) step { return st.allowed(5-i, time.Duration(i+1)*10*s) }),
				[]step{take(0, 1).refused(0, 10*s, 60*s)},
			),
		},
	}...)
	for n := int64(1); n <= 10; n++ {
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
