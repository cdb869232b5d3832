package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

func TestRefund(t *testing.T) {
	rules := []ratelimit.Rule{
		{Key: "a", Name: "minute", Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 10, Period: time.Minute}},
		{Key: "a", Name: "hour", Limit: ratelimit.Limit{Count: 100, Period: time.Hour}, Cost: 5},
	}
	tests := []struct {
		name   string
		during func(call *ratelimit.Call)
		want   string // units that are left of each limit
	}{
		{"of neither limit", func(*ratelimit.Call) {}, "9 95"},
		{"of one limit", func(call *ratelimit.Call) { call.Refund("minute") }, "10 95"},
		{"twice", func(call *ratelimit.Call) { call.Refund("minute"); call.Refund("minute") }, "10 95"},
		{"of both limits", func(call *ratelimit.Call) { call.Refund("hour"); call.Refund("minute") }, "10 100"},
		{"of no such limit", func(call *ratelimit.Call) { call.Refund("day") }, "9 95"},
		{"after the end", func(call *ratelimit.Call) { call.End(); call.Refund("minute") }, "9 95"},
		{
			"what has come back is not given back twice", func(call *ratelimit.Call) {
				time.Sleep(time.Minute)
				call.Refund("minute")
				call.Refund("hour")
			}, "9 100", // one of the next window's
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				store := memlimit.New()
				g := newLimiter(t, store).Guard("m", rules...)
				call := begin(t, g, t.Context())
				tt.during(call)
				charges := []ratelimit.Charge{
					{Key: []byte("a"), Name: "minute", Limit: rules[0].Limit},
					{Key: []byte("a"), Name: "hour", Limit: rules[1].Limit},
				}
				if strings.Contains(tt.name, "twice") && tt.want == "9 100" {
					charges[0].Cost = 1 // of another call, in the next window
				}
				results := make([]ratelimit.Result, 2)
				if err := store.Take(t.Context(), charges, results); err != nil {
					t.Fatal(err)
				}
				charges[0].Cost = 0
				call.End()
				if err := store.Peek(t.Context(), charges, results); err != nil {
					t.Fatal(err)
				}
				if left := fmt.Sprint(results[0].Remaining, results[1].Remaining); left != tt.want {
					t.Errorf("%s are left: want %s", left, tt.want)
				}
			})
		})
	}
}

func TestRefundOfUnitsThatComeBackOneByOne(t *testing.T) {
	for _, limit := range []ratelimit.Limit{
		{Count: 1, Period: time.Second, Burst: 10},
		{Algorithm: ratelimit.LeakyBucket, Count: 1, Period: time.Second, Burst: 10},
		{Count: 1, Period: time.Second, Burst: 10, Refill: ratelimit.Interval},
	} {
		for elapsed, left := range map[time.Duration]int64{
			0:                       10,
			4 * time.Second:         4 + 6, // four are back, six are given back
			9999 * time.Millisecond: 9 + 1,
			10 * time.Second:        10,
			15 * time.Second:        10,
		} {
			in(t, func(t *testing.T) {
				store := memlimit.New()
				g := newLimiter(t, store).Guard("m", ratelimit.Rule{Key: "k", Name: "limit", Limit: limit, Cost: 10})
				call := begin(t, g, t.Context())
				time.Sleep(elapsed)
				others := []ratelimit.Charge{{Key: []byte("k"), Name: "limit", Limit: limit, Cost: int64(min(elapsed/time.Second, 10))}}
				results := make([]ratelimit.Result, 1)
				if err := store.Take(t.Context(), others, results); err != nil || !results[0].Allowed {
					t.Fatal(results[0], err)
				}
				call.Refund("limit")
				call.End()
				others[0].Cost = 0
				if err := store.Peek(t.Context(), others, results); err != nil {
					t.Fatal(err)
				}
				if got := results[0].Remaining + int64(min(elapsed/time.Second, 10)); got != left {
					t.Errorf("%+v after %v: %d are left or taken anew: want %d", limit, elapsed, got, left)
				}
			})
		}
	}
}

func TestReleaseThatFailsIsTold(t *testing.T) {
	in(t, func(t *testing.T) {
		var told errorsOf
		store := &hooked{Store: memlimit.New()}
		store.refund = func(context.Context, []ratelimit.Charge) error { return errors.New("connection refused") }
		g := newLimiter(t, store, told.option()).Guard("users.Get", rule(slots(1, 5*time.Second)))
		begin(t, g, t.Context()).End()
		told.check(t, "users.Get: connection refused")
		time.Sleep(5*time.Second - time.Microsecond)
		refuses(t, g, "users.Get: rate limit exceeded: limit limit has all slots taken: the next lease ends in 1µs")
		time.Sleep(time.Microsecond)
		store.refund = nil
		begin(t, g, t.Context()).End()
	})
}

func TestReleaseWaitsForASecond(t *testing.T) {
	in(t, func(t *testing.T) {
		var told errorsOf
		store := &hooked{Store: memlimit.New()}
		store.refund = func(ctx context.Context, _ []ratelimit.Charge) error {
			<-ctx.Done()
			return ctx.Err()
		}
		g := newLimiter(t, store, told.option()).Guard("m", rule(slots(1, time.Minute)))
		call := begin(t, g, t.Context())
		start := time.Now()
		call.End()
		if d := time.Since(start); d != time.Second {
			t.Errorf("the call ended after %v", d)
		}
		told.check(t, "m: context deadline exceeded")
	})
}
