package memlimit

import (
	"fmt"
	"math/bits"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

func one(key string, limit ratelimit.Limit, cost int64) []ratelimit.Charge {
	return []ratelimit.Charge{{Key: []byte(key), Name: "limit", Limit: limit, Cost: cost}}
}

func take(t *testing.T, store *Store, charges []ratelimit.Charge) ratelimit.Result {
	t.Helper()
	results := make([]ratelimit.Result, len(charges))
	if err := store.Take(t.Context(), charges, results); err != nil {
		t.Fatal(err)
	}
	return results[0]
}

func peek(t *testing.T, store *Store, charges []ratelimit.Charge) ratelimit.Result {
	t.Helper()
	results := make([]ratelimit.Result, len(charges))
	if err := store.Peek(t.Context(), charges, results); err != nil {
		t.Fatal(err)
	}
	return results[0]
}

func refund(t *testing.T, store *Store, charges []ratelimit.Charge) {
	t.Helper()
	if err := store.Refund(t.Context(), charges); err != nil {
		t.Fatal(err)
	}
}

var perSecond = ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 5, Period: time.Second}

func TestCallAllocatesNothing(t *testing.T) {
	store := New()
	charges := []ratelimit.Charge{
		{Key: []byte("testGet:203.0.113.7"), Name: "1s", Limit: perSecond, Cost: 1},
		{Key: []byte("testGet:203.0.113.7"), Name: "1h", Limit: ratelimit.Limit{Count: 5, Period: time.Hour}, Cost: 1},
		{Key: []byte("tenant:{acme}"), Name: "1h", Limit: ratelimit.Limit{Count: 5, Period: time.Hour}, Cost: 1},
	}
	results := make([]ratelimit.Result, len(charges))
	take(t, store, charges) // makes the buckets
	ctx := t.Context()
	for n := 1; n <= len(charges); n++ {
		allocs := testing.AllocsPerRun(100, func() {
			if err := store.Take(ctx, charges[:n], results[:n]); err != nil {
				t.Fatal(err)
			}
		})
		if allocs != 0 {
			t.Errorf("a take of %d charges allocates %v times", n, allocs)
		}
	}
}

// Windows lie where those of other processes do, and of Redis, whenever the Store was made.
func TestSlidingWindowsFollowEachOtherFrom1970On(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // begins at midnight
		time.Sleep(300 * time.Millisecond)
		limit := ratelimit.Limit{Algorithm: ratelimit.SlidingWindow, Count: 5, Period: time.Second}
		if r := take(t, New(), one("key", limit, 1)); r.ResetAfter != 1700*time.Millisecond {
			t.Errorf("as new after %v: want 1.7s, the end of the next window", r.ResetAfter)
		}
	})
}

// P02, P03: what has expired leaves by the calls on another key, allowed or refused, and gives its memory back. Without
// calls nothing leaves, and nothing comes.
func TestExpiredBucketsLeave(t *testing.T) {
	const keys = 50_000
	logs := ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: 5, Period: time.Second}
	leases := ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 5, Period: time.Second}
	for _, test := range []struct {
		name  string
		limit ratelimit.Limit
		cost  int64 // of the calls on the other key
		opts  []Option
	}{
		{"allowed calls", perSecond, 0, nil},
		{"refused calls", perSecond, 6, nil},
		{"sliding logs", logs, 0, nil},
		{"leases", leases, 0, nil},
		{"with MaxKeys", perSecond, 6, []Option{MaxKeys(2 * keys)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := New(test.opts...)
				before := heapSize()
				for i := range keys {
					charges := one(fmt.Sprint("key ", i), test.limit, 1)
					charges[0].Holder = "holder"
					take(t, store, charges)
				}
				if n := store.Len(); n != keys {
					t.Fatalf("%d buckets: want %d", n, keys)
				}
				time.Sleep(time.Second)
				busy := one("busy", perSecond, test.cost)
				for range keys {
					take(t, store, busy)
				}
				if n := store.Len(); n > keys/1000 {
					t.Errorf("%d buckets are left of %d", n, keys)
				}
				if after := heapSize(); after > before*12/10 {
					t.Errorf("%d bytes have become %d", before, after)
				}
				runtime.KeepAlive(store)
			})
		})
	}
}

// P02, P05: keys that come once each do not pile up beyond those that count.
func TestOneTimeKeysDoNotPileUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := New()
		most := 0
		for i := range 200_000 {
			take(t, store, one(fmt.Sprint("key ", i), perSecond, 1))
			time.Sleep(100 * time.Microsecond) // so that 10,000 are live at a time
			if i%1000 == 0 {
				most = max(most, store.Len())
			}
		}
		if most > 40_000 {
			t.Errorf("up to %d buckets were kept: want at most some times the 10,000 that count", most)
		}
	})
}

// P02: while nothing expires calls hardly look for what has, and as soon as something has they do.
func TestSweepsGoByWhatTheyFind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, busy := New(), one("busy", perHour, 0)
		sweeps := func(calls int) (n uint32) {
			now, sh := store.lock(visitsOf(busy, nil))
			store.unlock(sh, now)
			s := &store.shards[bits.TrailingZeros64(sh)] // that of all the calls
			before := s.sweeps
			for range calls {
				take(t, store, busy)
			}
			return s.sweeps - before
		}
		const calls, others = 64 * sweepEvery, 10_000
		if n := sweeps(calls); n != calls/sweepEvery {
			t.Errorf("%d calls sweep %d times when there is nothing: want %d", calls, n, calls/sweepEvery)
		}
		for i := range others {
			take(t, store, one(fmt.Sprint(i), perSecond, 1))
		}
		time.Sleep(time.Second)
		if n := sweeps(others); n < others*sweepCall/sweepEvery/2 || store.Len() > 0 {
			t.Errorf("%d calls sweep %d times when %d buckets have expired, and leave %d", others, n, others, store.Len())
		}
		if n := sweeps(calls); n != calls/sweepEvery {
			t.Errorf("%d calls sweep %d times when all is over: want %d", calls, n, calls/sweepEvery)
		}
	})
}

// A call that is overtaken after it has read the clock is decided at the time of those before it.
func TestTimeOfABucketDoesNotRunBack(t *testing.T) {
	const goroutines, calls = 4, 5000
	store := New()
	limit := ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: goroutines * calls, Period: time.Hour}
	at := make([]time.Duration, goroutines*calls) // of each call, in the order of the decisions
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			results := make([]ratelimit.Result, 1)
			for range calls {
				if err := store.Take(t.Context(), one("key", limit, 1), results); err != nil {
					t.Error(err)
					return
				}
				at[results[0].Remaining] = results[0].At
			}
		})
	}
	wg.Wait()
	for i := range len(at) - 1 { // the last call left none
		if at[i] < at[i+1] {
			t.Fatalf("the call after %v was decided at %v", at[i+1], at[i])
		}
	}
}

// A clock that is before 1970 when the Store is made does not stand still until then.
func TestTimeGoesOnBefore1970(t *testing.T) {
	for _, algorithm := range []ratelimit.Algorithm{
		ratelimit.TokenBucket, ratelimit.FixedWindow, ratelimit.SlidingLog, ratelimit.SlidingWindow, ratelimit.LeakyBucket, ratelimit.Concurrency,
	} {
		synctest.Test(t, func(t *testing.T) {
			store := New()
			store.epoch = epochOf(time.Date(1969, time.July, 20, 20, 17, 40, 0, time.UTC))
			charges := one("key", ratelimit.Limit{Algorithm: algorithm, Count: 5, Period: time.Second}, 5)
			for call := range 5 {
				charges[0].Holder = fmt.Sprint("holder-", call)
				r := take(t, store, charges)
				if !r.Allowed {
					t.Fatalf("%v, call %d: %+v", algorithm, call, r)
				}
				charges[0].Holder = "another"
				if r := take(t, store, charges); r.Allowed || r.RetryAfter <= 0 {
					t.Fatalf("%v, call %d was not counted: %+v", algorithm, call, r)
				}
				time.Sleep(r.ResetAfter)
			}
		})
	}
}

// P06
func TestStoreRunsNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 10 {
		store := New()
		for i := range 1000 {
			take(t, store, one(fmt.Sprint("key ", i), perSecond, 1))
		}
	}
	if after := runtime.NumGoroutine(); after > before { // fewer: those of an earlier test have ended meanwhile
		t.Errorf("%d goroutines have become %d", before, after)
	}
}

// P07: the longest periods, in which a bucket is used from time to time, are counted to their ends.
func TestLongPeriods(t *testing.T) {
	for _, algorithm := range []ratelimit.Algorithm{ratelimit.TokenBucket, ratelimit.FixedWindow, ratelimit.SlidingLog, ratelimit.LeakyBucket} {
		synctest.Test(t, func(t *testing.T) {
			store := New()
			limit := ratelimit.Limit{Algorithm: algorithm, Count: 1, Period: 1000 * time.Hour}
			for hour := range 50 {
				r := take(t, store, one("key", limit, 1))
				if r.Allowed != (hour == 0) || hour > 0 && r.RetryAfter != time.Duration(1000-hour)*time.Hour {
					t.Errorf("%v, after %d hours: %+v", algorithm, hour, r)
				}
				take(t, store, one("another", perSecond, 1))
				time.Sleep(time.Hour)
			}
		})
	}
}

// P08: whether a bucket has expired is decided by the call that finds it, whether it has been swept or not.
func TestExpiryIsJudgedAtTheCall(t *testing.T) {
	for _, algorithm := range []ratelimit.Algorithm{
		ratelimit.TokenBucket, ratelimit.FixedWindow, ratelimit.SlidingLog, ratelimit.SlidingWindow, ratelimit.LeakyBucket, ratelimit.Concurrency,
	} {
		synctest.Test(t, func(t *testing.T) {
			store := New()
			charges := one("key", ratelimit.Limit{Algorithm: algorithm, Count: 5, Period: time.Second}, 5)
			charges[0].Holder = "holder"
			first := take(t, store, charges)
			time.Sleep(first.ResetAfter + 2009*ms)
			charges[0].Holder = "another"
			if n, r := store.Len(), take(t, store, charges); n != 1 || !r.Allowed || r.ResetAfter <= 0 {
				t.Errorf("%v: %d buckets, %+v", algorithm, n, r)
			}
		})
	}
}

// The ranges of the arithmetic end far beyond what Validate lets pass, and no state that a store can hold overflows.
func TestExtremesDoNotOverflow(t *testing.T) {
	const century = 100 * 365 * 24 * time.Hour
	limits := []ratelimit.Limit{
		{Count: 1, Period: 87600 * time.Hour, Burst: 10},
		{Count: 1, Period: time.Millisecond, Burst: 1_000_000_000},
		{Count: 1_000_000_000, Period: 1000 * time.Second},
		{Count: 1_000_000_000, Period: 87600 * time.Hour, Burst: 1_000_000_000},
		{Count: 1, Period: 87600 * time.Hour, Burst: 10, Refill: ratelimit.Interval},
		{Count: 1, Period: time.Millisecond, Burst: 1_000_000_000, Refill: ratelimit.Interval},
		{Algorithm: ratelimit.LeakyBucket, Count: 1, Period: 87600 * time.Hour, Burst: 10},
		{Algorithm: ratelimit.LeakyBucket, Count: 1, Period: time.Millisecond, Burst: 1_000_000_000},
		{Algorithm: ratelimit.LeakyBucket, Count: 1_000_000_000, Period: 87600 * time.Hour, Burst: 1_000_000_000},
		{Algorithm: ratelimit.SlidingWindow, Count: 1, Period: 87600 * time.Hour},
		{Algorithm: ratelimit.SlidingWindow, Count: 1, Period: time.Millisecond},
		{Algorithm: ratelimit.SlidingWindow, Count: 1_000_000_000, Period: 87600 * time.Hour},
		{Algorithm: ratelimit.SlidingLog, Count: 1, Period: 87600 * time.Hour},
		{Algorithm: ratelimit.SlidingLog, Count: 1, Period: time.Millisecond},
		{Algorithm: ratelimit.SlidingLog, Count: 1_000_000_000, Period: 87600 * time.Hour},
		{Algorithm: ratelimit.Concurrency, Count: 1, Period: 87600 * time.Hour},
		{Algorithm: ratelimit.Concurrency, Count: 1000, Period: time.Millisecond}, // one holder has no more
		{Algorithm: ratelimit.Concurrency, Count: 1000, Period: 87600 * time.Hour},
	}
	for _, limit := range limits {
		synctest.Test(t, func(t *testing.T) {
			store := New()
			full := one("key", limit, limit.Capacity())
			full[0].Holder = "a"
			if r := take(t, store, full); !r.Allowed || r.ResetAfter <= 0 || r.ResetAfter > century {
				t.Errorf("%+v: %+v", limit, r)
			}
			// Each limit on the bucket that each other of its algorithm left.
			for _, other := range limits {
				if other.Algorithm != limit.Algorithm {
					continue
				}
				charges := one("key", other, other.Capacity())
				charges[0].Holder = "b"
				if r := take(t, store, charges); r.Allowed || r.RetryAfter <= 0 || r.RetryAfter > century+87600*time.Hour {
					t.Errorf("%+v after %+v: %+v", other, limit, r)
				}
			}
			time.Sleep(century)
			if r := take(t, store, full); !r.Allowed || r.Remaining != 0 {
				t.Errorf("%+v after a century: %+v", limit, r)
			}
		})
	}
}
