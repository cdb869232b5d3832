package memlimit

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

func slots(holder string, count, cost int64, lease time.Duration) []ratelimit.Charge {
	charges := one("key", ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: count, Period: lease}, cost)
	charges[0].Holder = holder
	return charges
}

func renew(t *testing.T, store *Store, charges []ratelimit.Charge) []bool {
	t.Helper()
	held := make([]bool, len(charges))
	if err := store.Renew(t.Context(), charges, held); err != nil {
		t.Fatal(err)
	}
	return held
}

// naiveSlots are the slots of a concurrency limit, each with the time at which its lease ends.
type naiveSlots map[naiveSlot]int64

type naiveSlot struct {
	holder string
	i      int64
}

func (s naiveSlots) count(now int64) (ends []int64) {
	for _, e := range s {
		if now < e {
			ends = append(ends, e)
		}
	}
	slices.Sort(ends)
	return ends
}

func (s naiveSlots) own(c ratelimit.Charge, now int64) (n int64) {
	for i := range c.Cost {
		if now < s[naiveSlot{c.Holder, i}] {
			n++
		}
	}
	return n
}

func (s naiveSlots) answer(c ratelimit.Charge, now int64) ratelimit.Result {
	ends := s.count(now)
	used := int64(len(ends))
	r := ratelimit.Result{Limit: c.Limit.Count, Remaining: max(0, c.Limit.Count-used), At: time.Duration(now) * time.Microsecond}
	if used > 0 {
		r.ResetAfter = time.Duration(ends[used-1]-now) * time.Microsecond
	}
	if c.Cost > c.Limit.Count {
		r.RetryAfter = ratelimit.Never
	} else if c.Cost > 0 {
		then := now
		for i := 0; int64(len(s.count(then)))+c.Cost-s.own(c, then) > c.Limit.Count; i++ {
			then = ends[i]
		}
		r.RetryAfter = time.Duration(then-now) * time.Microsecond
	}
	r.Allowed = r.RetryAfter == 0
	return r
}

func (s naiveSlots) take(c ratelimit.Charge, now int64) ratelimit.Result {
	r := s.answer(c, now)
	if !r.Allowed || c.Cost == 0 {
		return r
	}
	s.hold(c, now)
	r = s.answer(ratelimit.Charge{Limit: c.Limit}, now)
	return r
}

func (s naiveSlots) hold(c ratelimit.Charge, now int64) {
	for i := range c.Cost {
		s[naiveSlot{c.Holder, i}] = now + c.Limit.Period.Microseconds()
	}
}

func (s naiveSlots) renew(c ratelimit.Charge, now int64) bool {
	if s.own(c, now) < c.Cost {
		return false
	}
	s.hold(c, now)
	return true
}

func (s naiveSlots) refund(c ratelimit.Charge, now int64) (lost bool) {
	lost = c.Cost > 0 && s.own(c, now) == 0
	for i := range c.Cost {
		delete(s, naiveSlot{c.Holder, i})
	}
	return lost
}

func TestLeasesAgreeWithAMap(t *testing.T) {
	leases := []time.Duration{time.Millisecond, time.Second, time.Second, 1500 * time.Millisecond, time.Minute}
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			store, naive := New(), naiveSlots{}
			count := 1 + random.Int64N(12)
			for i := range 300 {
				if random.IntN(40) == 0 {
					count = 1 + random.Int64N(12)
				}
				pauses := []time.Duration{0, 0, 0, time.Microsecond, time.Millisecond, 200 * time.Millisecond, time.Second}
				time.Sleep(pauses[random.IntN(len(pauses))])
				now := time.Now().UnixMicro()
				costs := []int64{0, 1, 1, 1, 1, 2, 3, count, count + 1}
				holder := string(rune('a' + random.IntN(8)))
				charges := slots(holder, count, costs[random.IntN(len(costs))], leases[random.IntN(len(leases))])
				var got, want any
				switch random.IntN(8) {
				default:
					got, want = take(t, store, charges), naive.take(charges[0], now)
				case 4:
					got, want = peek(t, store, charges), naive.answer(charges[0], now)
				case 5:
					charges[0].Holder = ""
					got, want = peek(t, store, charges), naive.answer(charges[0], now)
				case 6:
					err := store.Refund(t.Context(), charges)
					if err != nil && !errors.Is(err, ratelimit.ErrLeaseLost) {
						t.Fatal(err)
					}
					got, want = err != nil, naive.refund(charges[0], now)
				case 7:
					charges = append(charges, slots("a", count, 1, time.Second)...)
					got = fmt.Sprint(renew(t, store, charges))
					want = fmt.Sprint([]bool{naive.renew(charges[0], now), naive.renew(charges[1], now)})
				}
				if got != want {
					t.Fatalf("seed %d, call %d: %s, cost %d of %+v:\n got %+v\nwant %+v", seed, i, holder, charges[0].Cost, charges[0].Limit, got, want)
				}
			}
		})
	}
}

// A slot, once lost, is lost for all that its holder asks, and whoever has it now keeps it.
func TestLostLeaseIsNeitherRenewedNorReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := New()
		a, b := slots("a", 1, 1, 10*time.Second), slots("b", 1, 1, 10*time.Second)
		take(t, store, a)
		time.Sleep(10 * time.Second)
		if r := take(t, store, b); !r.Allowed {
			t.Fatalf("b: %+v", r)
		}
		if held := renew(t, store, append(slices.Clone(a), b...)); held[0] || !held[1] {
			t.Errorf("renewed %v: want b alone", held)
		}
		want := `memlimit: refund: limit of "key": lease lost`
		if err := store.Refund(t.Context(), a); !errors.Is(err, ratelimit.ErrLeaseLost) || err.Error() != want {
			t.Errorf("error %v: want %s", err, want)
		}
		if r := take(t, store, a); r.Allowed || r.RetryAfter != 10*time.Second {
			t.Errorf("a beside b: %+v", r)
		}
	})
}

// One bucket that cannot give back keeps no other from it.
func TestRefundGoesOnWhenALeaseIsLost(t *testing.T) {
	store := New()
	counted := one("key", perSecond, 2)
	take(t, store, counted)
	charges := append(slots("nobody", 1, 1, time.Minute), counted...)
	if err := store.Refund(t.Context(), charges); !errors.Is(err, ratelimit.ErrLeaseLost) {
		t.Errorf("error %v: want one that a lease is lost", err)
	}
	if r := peek(t, store, counted); r.Remaining != 5 {
		t.Errorf("%d are left: want all 5", r.Remaining)
	}
}

func TestLeasesGiveTheirMemoryBack(t *testing.T) {
	const holders = 100_000
	synctest.Test(t, func(t *testing.T) {
		before := heapSize()
		store := New()
		for i := range holders {
			if r := take(t, store, slots(fmt.Sprint("holder-", i), holders, 1, time.Minute)); !r.Allowed {
				t.Fatalf("holder %d: %+v", i, r)
			}
		}
		full := heapSize() - before
		for i := range holders - 10 {
			refund(t, store, slots(fmt.Sprint("holder-", i), holders, 1, time.Minute))
		}
		if left := heapSize() - before; left > full/20 {
			t.Errorf("%d bytes are left of %d", left, full)
		}
		if r := peek(t, store, slots("", holders, 1, time.Minute)); r.Remaining != holders-10 {
			t.Errorf("%d are left: want %d", r.Remaining, holders-10)
		}
		runtime.KeepAlive(store)
	})
}

// A holder's slots that end together are one lease, however many they are.
func TestSlotsAreNotCountedOneByOne(t *testing.T) {
	var b bucket
	held := func() (runs int) {
		for l := b.detail.leases.root.next; l != &b.detail.leases.root; l = l.next {
			runs++
		}
		return runs
	}
	for _, step := range []struct {
		holder     string
		cost, ends int64
		runs       int
	}{
		{"a", 999, 60, 1},
		{"b", 1000, 60, 2},
		{"a", 1, 61, 3}, // one of them for longer
		{"a", 1000, 62, 2},
	} {
		b = b.leased(step.holder, step.cost, step.ends)
		if got := held(); got != step.runs {
			t.Errorf("%d slots of %s until %d: %d leases: want %d", step.cost, step.holder, step.ends, got, step.runs)
		}
	}
}
