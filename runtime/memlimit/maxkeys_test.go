package memlimit

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// kept returns the keys whose buckets still count, in order. There is one charge a key.
func kept(store *Store) []string {
	var keys []string
	now := time.Now().UnixMicro()
	for i := range store.shards {
		for r := range records(&store.shards[i]) {
			if r.expires() > now {
				_, key, _ := strings.Cut(string(r.name()), "limit")
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	return keys
}

var (
	perHour  = ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 5, Period: time.Hour}
	oneHour  = ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1, Period: time.Hour}
	atOnce   = ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 5, Period: time.Hour}
	logged   = ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: 5, Period: time.Second}
	patience = ratelimit.Limit{Count: 1, Period: time.Hour}
)

func TestWhichBucketIsForgotten(t *testing.T) {
	type step struct {
		pause  time.Duration
		key    string
		limit  ratelimit.Limit
		refund bool
	}
	tests := []struct {
		name    string
		steps   []step // each takes, or gives back, one unit
		want    string
		evicted uint64
	}{
		{
			"the one that was used least recently",
			[]step{{key: "a", limit: perHour}, {key: "b", limit: perHour}, {key: "c", limit: perHour}, {key: "a", limit: perHour}, {key: "d", limit: perHour}},
			"a c d", 1,
		},
		{
			"one that is as new, though it was used last",
			[]step{{key: "a", limit: perHour}, {key: "b", limit: perHour}, {key: "c", limit: perSecond}, {pause: time.Second, key: "d", limit: perHour}},
			"a b d", 0,
		},
		{
			"one that is as new, though it held callers back",
			[]step{{key: "a", limit: perHour}, {key: "b", limit: perHour}, {key: "c", limit: ratelimit.Limit{Count: 1, Period: time.Second}}, {pause: time.Second, key: "d", limit: perHour}},
			"a b d", 0,
		},
		{
			"not one that would have been as new, had it not been used again",
			[]step{{key: "a", limit: logged}, {key: "b", limit: perHour}, {key: "c", limit: perHour}, {pause: 500 * ms, key: "a", limit: logged}, {pause: 500 * ms, key: "d", limit: perHour}},
			"a c d", 1,
		},
		{
			"one that is as new earlier than it would have been, since it was given back to",
			[]step{{key: "a", limit: patience}, {key: "b", limit: perHour}, {key: "c", limit: ratelimit.Limit{Count: 9, Period: 9 * time.Second}}, {key: "c", limit: ratelimit.Limit{Count: 9, Period: 9 * time.Second}}, {key: "c", limit: ratelimit.Limit{Count: 9, Period: 9 * time.Second}, refund: true}, {pause: time.Second, key: "d", limit: perHour}},
			"a b d", 0,
		},
		{
			"one with something left before one that holds callers back",
			[]step{{key: "a", limit: oneHour}, {key: "b", limit: perHour}, {key: "c", limit: perHour}, {key: "d", limit: perHour}, {key: "e", limit: perHour}},
			"a d e", 2,
		},
		{
			"one that held callers back until it was given back to",
			[]step{{key: "a", limit: ratelimit.Limit{Count: 2, Period: time.Hour}}, {key: "a", limit: ratelimit.Limit{Count: 2, Period: time.Hour}}, {key: "b", limit: oneHour}, {key: "c", limit: oneHour}, {key: "a", limit: ratelimit.Limit{Count: 2, Period: time.Hour}, refund: true}, {key: "d", limit: perHour}},
			"b c d", 1,
		},
		{
			"one that holds callers back before one with slots that are held",
			[]step{{key: "a", limit: atOnce}, {key: "b", limit: oneHour}, {key: "c", limit: oneHour}, {key: "d", limit: oneHour}},
			"a c d", 1,
		},
		{
			"one with slots that are held if there is no other",
			[]step{{key: "a", limit: atOnce}, {key: "b", limit: atOnce}, {key: "c", limit: atOnce}, {key: "a", limit: atOnce}, {key: "d", limit: perHour}},
			"a c d", 1,
		},
		{
			"none when there is room again",
			[]step{{key: "a", limit: perHour}, {key: "b", limit: perHour}, {key: "c", limit: perHour}, {key: "a", limit: perHour, refund: true}, {key: "d", limit: perHour}},
			"b c d", 0,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := New(MaxKeys(3))
				for _, s := range test.steps {
					time.Sleep(s.pause)
					charges := one(s.key, s.limit, 1)
					charges[0].Holder = "holder"
					if s.refund {
						refund(t, store, charges)
					} else if r := take(t, store, charges); !r.Allowed {
						t.Fatalf("%s: %+v", s.key, r)
					}
				}
				if got := strings.Join(kept(store), " "); got != test.want {
					t.Errorf("kept %s: want %s", got, test.want)
				}
				if got := store.Evicted(); got != test.evicted {
					t.Errorf("%d evicted: want %d", got, test.evicted)
				}
			})
		})
	}
}

// None of the buckets of a call makes room for another of them, though they may have been used least recently.
func TestBucketsOfACallDoNotMakeRoomForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := New(MaxKeys(3))
		for _, step := range []struct {
			call, want string
			evicted    uint64
		}{
			{"a b c", "a b c", 0},
			{"d e f", "d e f", 3},
			{"g f h", "f g h", 5},
			{"h i", "g h i", 6},
			{"j g k", "g j k", 8},
		} {
			var charges []ratelimit.Charge
			for key := range strings.FieldsSeq(step.call) {
				charges = append(charges, one(key, perHour, 1)...)
			}
			take(t, store, charges)
			if got := strings.Join(kept(store), " "); got != step.want || store.Evicted() != step.evicted {
				t.Errorf("after %s: kept %s, %d evicted: want %s, %d", step.call, got, store.Evicted(), step.want, step.evicted)
			}
		}
	})
}

// A look at a bucket that is as new, and another that takes its place, are one call.
func TestBucketThatIsLookedAtMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := New(MaxKeys(2))
		take(t, store, one("a", perSecond, 5))
		take(t, store, one("b", perHour, 1))
		time.Sleep(time.Second)
		take(t, store, append(one("a", perSecond, 0), one("c", perHour, 1)...))
		if got := strings.Join(kept(store), " "); got != "b c" || store.Evicted() != 0 {
			t.Errorf("kept %s, %d evicted: want b c, none", got, store.Evicted())
		}
		take(t, store, one("d", perHour, 1))
		if got := strings.Join(kept(store), " "); got != "c d" {
			t.Errorf("kept %s: want c d", got)
		}
	})
}

func TestCallThatHasNoRoomIsAnError(t *testing.T) {
	for _, test := range []struct {
		max, charges int
		want         string
	}{
		{2, 3, "memlimit: misconfigured: MaxKeys leaves room for 2 of the 3 buckets of a call"},
		{2048, 1025, "memlimit: misconfigured: MaxKeys leaves room for 1024 of the 1025 buckets of a call"},
		{0, 1, "memlimit: misconfigured: MaxKeys leaves room for 0 of the 1 buckets of a call"},
		{-1, 1, "memlimit: misconfigured: MaxKeys leaves room for 0 of the 1 buckets of a call"},
	} {
		store := New(MaxKeys(test.max))
		charges := make([]ratelimit.Charge, test.charges)
		for i := range charges {
			charges[i] = one(fmt.Sprint(i), perHour, 1)[0]
		}
		results := make([]ratelimit.Result, len(charges))
		for name, decide := range map[string]func() error{
			"take": func() error { return store.Take(t.Context(), charges, results) },
			"peek": func() error { return store.Peek(t.Context(), charges, results) },
		} {
			if err := decide(); !errors.Is(err, ratelimit.ErrMisconfigured) || err.Error() != test.want {
				t.Errorf("%s: error %v: want %s", name, err, test.want)
			}
		}
		if n := store.Len(); n != 0 {
			t.Errorf("%d buckets: want none", n)
		}
	}
}

func TestSharesAddUp(t *testing.T) {
	for n, shards := range map[int]int{1: 1, 2047: 1, 2048: 2, 10_000: 8, 65_535: 32, 65_536: 64, 1_000_003: 64} {
		store := New(MaxKeys(n))
		sum := 0
		for i := range store.shards {
			sum += store.shards[i].room.size
		}
		if sum != n || len(store.shards) != shards {
			t.Errorf("%d keys: %d shards of together %d: want %d", n, len(store.shards), sum, shards)
		}
	}
}

// P05: one-time keys neither pile up nor let a caller who is limited begin anew.
func TestMaxKeysHoldsAgainstOneTimeKeys(t *testing.T) {
	const most, calls = 10_000, 200_000
	store := New(MaxKeys(most))
	before := heapSize()
	hot, charges := one("hot", perHour, 1), one("", perHour, 1)
	allowed := 0
	for i := range calls {
		charges[0].Key = fmt.Appendf(charges[0].Key[:0], "key %d", i)
		take(t, store, charges)
		if i%100 == 0 && take(t, store, hot).Allowed {
			allowed++
		}
		if i%1000 == 0 {
			if n := store.Len(); n > most {
				t.Fatalf("%d buckets after %d calls: want at most %d", n, i, most)
			}
		}
	}
	if allowed != 5 {
		t.Errorf("the hot key was allowed %d calls: want 5", allowed)
	}
	if n := store.Len(); n < most*9/10 {
		t.Errorf("%d buckets: want all %d, or nearly", n, most)
	}
	if got, want := store.Evicted(), uint64(calls+1-store.Len()); got != want {
		t.Errorf("%d evicted: want %d", got, want)
	}
	if size := heapSize() - before; size > 512*most {
		t.Errorf("%d bytes: want at most 512 a bucket", size)
	}
}

// P05: Len is not above the most for a moment, whatever goes on.
func TestMaxKeysHoldsForConcurrentCalls(t *testing.T) {
	const most = 3000 // two shards
	store := New(MaxKeys(most))
	var calls, all sync.WaitGroup
	done := make(chan struct{})
	for g := range uint64(4) {
		calls.Go(func() {
			random := rand.New(rand.NewPCG(g, 0))
			results := make([]ratelimit.Result, 3)
			for range 5_000 {
				var charges []ratelimit.Charge
				for i := range results {
					charges = append(charges, one(fmt.Sprint(i, " ", random.IntN(5000)), oneHour, 1)...)
				}
				if err := store.Take(t.Context(), charges, results); err != nil {
					t.Error(err)
				}
				if err := store.Refund(t.Context(), charges[:1]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Go(func() {
		for {
			if n := store.Len(); n > most {
				t.Errorf("%d buckets: want at most %d", n, most)
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	calls.Wait()
	close(done)
	all.Wait()
	for i := range store.shards {
		checkRoom(t, &store.shards[i])
	}
	if store.Evicted() == 0 {
		t.Error("none was evicted: want some, or nothing is tested")
	}
}
