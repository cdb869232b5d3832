package ratelimittest

import (
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

func tokens(count int64, period time.Duration) ratelimit.Limit {
	return ratelimit.Limit{Count: count, Period: period}
}

func burst(count int64, period time.Duration, burst int64) ratelimit.Limit {
	return ratelimit.Limit{Count: count, Period: period, Burst: burst}
}

func interval(count int64, period time.Duration, burst int64) ratelimit.Limit {
	return ratelimit.Limit{Count: count, Period: period, Burst: burst, Refill: ratelimit.Interval}
}

func window(count int64, period time.Duration) ratelimit.Limit {
	return ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: count, Period: period}
}

func record(count int64, period time.Duration) ratelimit.Limit {
	return ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: count, Period: period}
}

func slide(count int64, period time.Duration) ratelimit.Limit {
	return ratelimit.Limit{Algorithm: ratelimit.SlidingWindow, Count: count, Period: period}
}

func leak(count int64, period time.Duration, burst int64) ratelimit.Limit {
	return ratelimit.Limit{Algorithm: ratelimit.LeakyBucket, Count: count, Period: period, Burst: burst}
}

func slots(count int64, lease time.Duration) ratelimit.Limit {
	return ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: count, Period: lease}
}

func micros(n int64) time.Duration { return time.Duration(n) * us }

// charge returns a charge that is alone on its bucket. Where holders are needed, it is that of "holder".
func charge(key string, limit ratelimit.Limit, cost int64) ratelimit.Charge {
	return ratelimit.Charge{Key: []byte(key), Name: "limit", Limit: limit, Cost: cost, Holder: "holder"}
}
