package ratelimit_test

import (
	"math"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// What lies in other processes is what a process may lack: so much may be refused too early, and no more.
func TestRefusedTooEarly(t *testing.T) {
	for _, limit := range []ratelimit.Limit{window(100, time.Hour), {Count: 100, Period: 1000 * time.Hour}} {
		for _, prefetch := range []int64{2, 10, 25} {
			in(t, func(t *testing.T) {
				const instances = 4
				store := memlimit.New()
				var limiters []*ratelimit.Limiter
				for range instances {
					limiters = append(limiters, newLimiter(t, store))
				}
				for _, l := range limiters {
					calls(t, l.Guard("m", stocked(limit, prefetch)), 1)
				}
				g := limiters[0].Guard("m", stocked(limit, prefetch))
				early := 100 - (instances - 1) - 1 - calls(t, g, 100)
				if most := (instances - 1) * (int(prefetch) - 1); early != most {
					t.Errorf("%v, prefetch %d: %d are refused too early: want %d", limit.Algorithm, prefetch, early, most)
				}
				time.Sleep(2 * time.Second) // the others are idle
				if n := calls(t, g, 100); n != early {
					t.Errorf("%v, prefetch %d: %d are admitted when the others are idle: want %d", limit.Algorithm, prefetch, n, early)
				}
			})
		}
	}
}

// What each process takes in advance, and does not use in time, would be lacking elsewhere. So they take less of a bucket that
// runs low.
func TestProcessesWithFewCallsLeaveTheBucketToOthers(t *testing.T) {
	for _, share := range []int{50, 90} { // percent of the limit that is called for
		in(t, func(t *testing.T) {
			limit := ratelimit.Limit{Count: 1000, Period: time.Second}
			store := memlimit.New()
			var guards []*ratelimit.Guard
			for range 10 {
				guards = append(guards, newLimiter(t, store).Guard("m", stocked(limit, 100)))
			}
			const n = 20_000
			refused := 0
			for i := range n {
				refused += 1 - calls(t, guards[i%len(guards)], 1)
				time.Sleep(time.Second / time.Duration(10*share))
			}
			if left := remaining(t, store, limit); refused > 0 || left < 200 {
				t.Errorf("of %d%% of the limit, %d in %d calls are refused, and %d are left", share, refused, n, left)
			}
		})
	}
}

func TestMoreProcessesThanUnits(t *testing.T) {
	for _, instances := range []int{2, 4, 5, 1_000_000, math.MaxInt} {
		in(t, func(t *testing.T) {
			limit := ratelimit.Limit{Count: 1000, Period: 366 * 24 * time.Hour, Burst: 30_000}
			g := newLimiter(t, memlimit.New(), ratelimit.Instances(instances)).Guard("m", stocked(limit, 1000))
			if n := calls(t, g, 30_001); n != 30_000 {
				t.Errorf("%d instances: %d calls were admitted: want 30000", instances, n)
			}
		})
	}
}

// How often ten processes go to the store for calls that come evenly, and what is refused that would be admitted without a
// prefetch of 100: the table of docs/algorithms.md.
func TestTripsOfProcessesThatPrefetch(t *testing.T) {
	if testing.Short() {
		t.Skip("half a million calls")
	}
	const n = 30_000
	bucket := ratelimit.Limit{Count: 10_000, Period: time.Second}
	for _, tt := range []struct {
		limit     ratelimit.Limit
		instances int // as each process knows
		share     int // percent of the limit that is called for
		most      int // trips
		early     int // calls that are refused too early
	}{
		{window(10_000, time.Second), 1, 50, 650, 0},
		{window(10_000, time.Second), 1, 100, 350, 0},
		{window(10_000, time.Second), 1, 300, n, 0},
		{bucket, 1, 50, n, 0},
		{bucket, 1, 100, n, 0},
		{bucket, 1, 300, n, 5000},
		{bucket, 10, 50, 650, 0},
		{bucket, 10, 100, 350, 0},
		{bucket, 10, 300, n, 9 * 99},
	} {
		admitted := func(prefetch int64) (admitted, trips int) {
			in(t, func(t *testing.T) {
				store := newCounter()
				var guards []*ratelimit.Guard
				for range 10 {
					l := newLimiter(t, store, ratelimit.Instances(tt.instances))
					guards = append(guards, l.Guard("m", stocked(tt.limit, prefetch)))
				}
				for i := range n {
					admitted += calls(t, guards[i%len(guards)], 1)
					time.Sleep(time.Second / time.Duration(100*tt.share))
				}
				trips = len(store.asked)
			})
			return admitted, trips
		}
		got, trips := admitted(100)
		want, _ := admitted(0)
		t.Logf("%v, Instances(%d), %d%% of the limit: %d calls, %d trips, %d refused, %d of them too early",
			tt.limit.Algorithm, tt.instances, tt.share, n, trips, n-got, want-got)
		if trips > tt.most || want-got > tt.early {
			t.Errorf("%v, Instances(%d), %d%% of the limit: %d trips and %d refused too early: want at most %d and %d",
				tt.limit.Algorithm, tt.instances, tt.share, trips, want-got, tt.most, tt.early)
		}
	}
}

// Where calls of another method give units back, those that lie here may be back in the bucket sooner than the bucket would
// be as new.
func TestUnitsOfABucketThatAnotherMethodGivesBackTo(t *testing.T) {
	in(t, func(t *testing.T) {
		limit := ratelimit.Limit{Count: 10, Period: time.Second}
		store := memlimit.New()
		one, other := rule(limit), stocked(limit, 2)
		one.Refunds, other.Refunds = true, true
		gives := newLimiter(t, store, ratelimit.Instances(2)).Guard("gives", one)
		takes := newLimiter(t, store, ratelimit.Instances(2)).Guard("takes", other)
		var all []*ratelimit.Call
		for range 5 {
			all = append(all, begin(t, gives, t.Context()))
		}
		calls(t, takes, 1)
		for _, call := range all {
			call.Refund("limit")
			call.End()
		}
		time.Sleep(250 * time.Millisecond) // the two units have come back
		if n := calls(t, gives, 20) + calls(t, takes, 20); n != 10 {
			t.Errorf("%d calls were admitted at once: want 10", n)
		}
	})
}
