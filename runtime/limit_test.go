package ratelimit_test

import (
	"math"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

const day = 24 * time.Hour

func TestLimitValidate(t *testing.T) {
	tests := []struct {
		name  string
		limit ratelimit.Limit
		want  string // lines of the error; empty: valid
	}{
		{"five a second", ratelimit.Limit{Count: 5, Period: time.Second}, ""},
		{"slowest", ratelimit.Limit{Count: 1, Period: 3650 * day}, ""}, // R33: 1 per 87600 h
		{"fastest", ratelimit.Limit{Count: 1_000_000, Period: time.Second}, ""},
		{"largest", ratelimit.Limit{Count: 1_000_000_000, Period: day, Burst: 1_000_000_000}, ""},
		{"a million a year", ratelimit.Limit{Count: 1_000_000, Period: 366 * day}, ""},
		{"1.5 s", ratelimit.Limit{Count: 1, Period: 1500 * time.Millisecond}, ""}, // U05
		{"interval", ratelimit.Limit{Count: 5, Period: time.Second, Burst: 20, Refill: ratelimit.Interval}, ""},
		{"fixed window", ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 5, Period: time.Second}, ""},
		{"sliding window", ratelimit.Limit{Algorithm: ratelimit.SlidingWindow, Count: 5, Period: time.Second}, ""},
		{"leaky bucket", ratelimit.Limit{Algorithm: ratelimit.LeakyBucket, Count: 5, Period: time.Second, Burst: 2}, ""},
		{"3e9 a day", ratelimit.Limit{Count: 3_000_000_000, Period: day}, // U03
			"ratelimit: Limit.Count is 3000000000: want 1 to 1000000000"},

		{"zero value", ratelimit.Limit{}, // R34, U04
			"ratelimit: Limit.Count is 0: want 1 to 1000000000\n" +
				"ratelimit: Limit.Period is 0s: want 1ms to 87600h0m0s"},
		{"negative", ratelimit.Limit{Count: -1, Period: -time.Second}, // R34
			"ratelimit: Limit.Count is -1: want 1 to 1000000000\n" +
				"ratelimit: Limit.Period is -1s: want 1ms to 87600h0m0s"},
		{"period of a nanosecond", ratelimit.Limit{Count: 1, Period: 1}, // U05
			"ratelimit: Limit.Period is 1ns: want 1ms to 87600h0m0s"},
		{
			"period with nanoseconds",
			ratelimit.Limit{Count: 1, Period: time.Second + 1},
			"ratelimit: Limit.Period is 1.000000001s: want whole microseconds",
		},
		{"endless period", ratelimit.Limit{Count: 1, Period: math.MaxInt64}, // R33
			"ratelimit: Limit.Period is 2562047h47m16.854775807s: want 1ms to 87600h0m0s"},
		{"burst below zero", ratelimit.Limit{Count: 1, Period: time.Second, Burst: -1}, // U02
			"ratelimit: Limit.Burst is -1: want 1 to 1000000000, or 0 for Count"},
		{
			"burst of a window",
			ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1, Period: time.Second, Burst: 2},
			"ratelimit: Limit.Burst is 2: fixed-window has no burst",
		},
		{
			"refill of a window",
			ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1, Period: time.Second, Refill: ratelimit.Interval},
			"ratelimit: Limit.Refill is interval: fixed-window has no refill",
		},
		{
			"burst of a sliding window",
			ratelimit.Limit{Algorithm: ratelimit.SlidingWindow, Count: 1, Period: time.Second, Burst: 2},
			"ratelimit: Limit.Burst is 2: sliding-window has no burst",
		},
		{
			"refill of a leaky bucket",
			ratelimit.Limit{Algorithm: ratelimit.LeakyBucket, Count: 1, Period: time.Second, Refill: ratelimit.Interval},
			"ratelimit: Limit.Refill is interval: leaky-bucket has no refill",
		},
		{
			"unknown refill",
			ratelimit.Limit{Count: 1, Period: time.Second, Refill: 7},
			"ratelimit: Limit.Refill is Refill(7): want Greedy or Interval",
		},
		{
			"unknown algorithm",
			ratelimit.Limit{Algorithm: 99, Count: 1, Period: time.Second},
			"ratelimit: Limit.Algorithm is Algorithm(99): want one of this package's constants",
		},
		{
			"above a million a second",
			ratelimit.Limit{Count: 1001, Period: time.Millisecond},
			"ratelimit: 1001 per 1ms is more than 1000000 a second: a store's clock counts microseconds",
		},
		{
			"full after more than a century",
			ratelimit.Limit{Count: 1, Period: 366 * day, Burst: 100},
			"ratelimit: a bucket of 100 that refills 1 per 8784h0m0s is full after more than 100 years",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if err := tt.limit.Validate(); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("Validate(%+v)\n got %s\nwant %s", tt.limit, got, tt.want)
			}
		})
	}
}

func TestNamesAreThoseOfTheDirective(t *testing.T) {
	for want, got := range map[string]string{
		"token-bucket":   ratelimit.TokenBucket.String(),
		"fixed-window":   ratelimit.FixedWindow.String(),
		"sliding-window": ratelimit.SlidingWindow.String(),
		"leaky-bucket":   ratelimit.LeakyBucket.String(),
		"greedy":         ratelimit.Greedy.String(),
		"interval":       ratelimit.Interval.String(),
	} {
		if got != want {
			t.Errorf("String() = %q, want %q", got, want)
		}
	}
}

func TestCheckDecision(t *testing.T) {
	limit := ratelimit.Limit{Count: 5, Period: time.Second}
	window := ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 5, Period: time.Second}
	charge := func(key, name string, l ratelimit.Limit, cost int64) ratelimit.Charge {
		return ratelimit.Charge{Key: []byte(key), Name: name, Limit: l, Cost: cost}
	}
	tests := []struct {
		name    string
		charges []ratelimit.Charge
		results int
		want    string
	}{
		{"none", nil, 0, ""},
		{"different keys, names and algorithms", []ratelimit.Charge{
			charge("a", "1s", limit, 1), charge("b", "1s", limit, 1), charge("a", "1m", limit, 0), charge("a", "1s", window, math.MaxInt64),
		}, 4, ""},
		{
			"too few results",
			[]ratelimit.Charge{charge("a", "1s", limit, 1)},
			0,
			"ratelimit: 1 charges and 0 results: want one result a charge",
		},
		{
			"invalid limit",
			[]ratelimit.Charge{charge("a", "1s", ratelimit.Limit{Count: 1}, 1)},
			1,
			"ratelimit: Limit.Period is 0s: want 1ms to 87600h0m0s",
		},
		{"negative cost", []ratelimit.Charge{charge("a", "1s", limit, -1)}, 1, // U05
			"ratelimit: Charge.Cost is -1: want at least 0"},
		{
			"one bucket twice",
			[]ratelimit.Charge{charge("a", "1s", limit, 1), charge("b", "1s", limit, 1), charge("b", "1s", limit, 2)},
			3,
			`ratelimit: charges 1 and 2 name the same bucket "b" 1s`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if err := ratelimit.CheckDecision(tt.charges, make([]ratelimit.Result, tt.results)); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("CheckDecision: got %q, want %q", got, tt.want)
			}
		})
	}
}
