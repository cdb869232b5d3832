package memlimit

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// naiveLog is a sliding log as one would write it down: all times and units in a list, looked at from its start.
type naiveLog struct {
	entries []naiveEntry // oldest first
	full    int64        // when it is forgotten
}

type naiveEntry struct{ at, units int64 }

func (g *naiveLog) counting(now, period int64) []naiveEntry {
	if now >= g.full {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(g.entries), func(e naiveEntry) bool { return now-e.at >= period })
}

func (g *naiveLog) answer(c ratelimit.Charge, now int64) ratelimit.Result {
	period := c.Limit.Period.Microseconds()
	entries := g.counting(now, period)
	used, wait, reset := int64(0), int64(0), int64(0)
	for _, e := range entries {
		used += e.units
		reset = e.at + period - now
	}
	r := ratelimit.Result{
		Limit:      c.Limit.Count,
		Remaining:  max(0, c.Limit.Count-used),
		ResetAfter: time.Duration(reset) * time.Microsecond,
		At:         time.Duration(now) * time.Microsecond,
	}
	if c.Cost > c.Limit.Count {
		r.RetryAfter = ratelimit.Never
	} else if c.Cost > 0 {
		for lacking := used + c.Cost - c.Limit.Count; lacking > 0; entries = entries[1:] {
			lacking -= entries[0].units
			wait = entries[0].at + period - now
		}
		r.RetryAfter = time.Duration(wait) * time.Microsecond
	}
	r.Allowed = r.RetryAfter == 0
	return r
}

func (g *naiveLog) take(c ratelimit.Charge, now int64) ratelimit.Result {
	r := g.answer(c, now)
	switch {
	case r.Allowed && c.Cost > 0:
		g.entries = g.counting(now, c.Limit.Period.Microseconds())
		if n := len(g.entries) - 1; n >= 0 && tickOf(c, g.entries[n].at) == tickOf(c, now) {
			g.entries[n] = naiveEntry{now, g.entries[n].units + c.Cost}
		} else {
			g.entries = append(g.entries, naiveEntry{now, c.Cost})
		}
		g.full = now + c.Limit.Period.Microseconds()
		r = g.answer(c, now)
		r.Allowed, r.RetryAfter = true, 0
	case !r.Allowed && now < g.full:
		g.full = max(g.full, now+r.ResetAfter.Microseconds())
	}
	return r
}

func (g *naiveLog) refund(c ratelimit.Charge, now int64) {
	if c.Cost == 0 {
		return
	}
	g.entries = g.counting(now, c.Limit.Period.Microseconds())
	taken := now
	if c.Taken > 0 {
		taken = min(now, c.Taken.Microseconds())
	}
	n := c.Cost
	if last := len(g.entries) - 1; last >= 0 && tickOf(c, g.entries[last].at) == tickOf(c, taken) {
		back := min(n, g.entries[last].units)
		n -= back
		g.entries[last].units -= back
	} else if now-taken >= c.Limit.Period.Microseconds() {
		n = 0
	}
	for i := range g.entries {
		back := min(n, g.entries[i].units)
		n -= back
		g.entries[i].units -= back
	}
	g.entries = slices.DeleteFunc(g.entries, func(e naiveEntry) bool { return e.units == 0 })
	g.full = now
	if n := len(g.entries); n > 0 {
		g.full = g.entries[n-1].at + c.Limit.Period.Microseconds()
	}
}

func tickOf(c ratelimit.Charge, at int64) int64 {
	if c.Limit.Count <= 1_000_000 {
		return at
	}
	return at / ((c.Limit.Period.Microseconds() + 999_999) / 1_000_000)
}

func TestSlidingLogAgreesWithAList(t *testing.T) {
	limits := []ratelimit.Limit{
		{Count: 1, Period: time.Millisecond},
		{Count: 5, Period: time.Second},
		{Count: 3, Period: 700 * time.Millisecond},
		{Count: 100, Period: 2 * time.Second},
		{Count: 1_000_000, Period: time.Minute},
		{Count: 1_000_001, Period: time.Minute},            // a tick of 60 µs
		{Count: 1_000_000_000, Period: 1000 * time.Second}, // a tick of 1 ms
	}
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			store, naive := New(), &naiveLog{}
			limit := limits[random.IntN(len(limits))]
			var taken []time.Duration
			for i := range 200 {
				if random.IntN(30) == 0 {
					limit = limits[random.IntN(len(limits))]
				}
				limit.Algorithm = ratelimit.SlidingLog
				pauses := []time.Duration{0, 0, time.Microsecond, 50 * time.Microsecond, time.Millisecond, limit.Period / 7, limit.Period / 3, limit.Period}
				time.Sleep(pauses[random.IntN(len(pauses))].Truncate(time.Microsecond))
				now := time.Now().UnixMicro()
				costs := []int64{0, 1, 1, 1, 1, 2, 3, limit.Count / 2, limit.Count, limit.Count + 1}
				charges := one("key", limit, costs[random.IntN(len(costs))])
				var got, want ratelimit.Result
				switch random.IntN(6) {
				default:
					got, want = take(t, store, charges), naive.take(charges[0], now)
					taken = append(taken, got.At)
				case 4:
					got, want = peek(t, store, charges), naive.answer(charges[0], now)
				case 5:
					if back := random.IntN(12); back < len(taken) {
						charges[0].Taken = taken[len(taken)-1-back]
					}
					refund(t, store, charges)
					naive.refund(charges[0], now)
				}
				if got != want {
					t.Fatalf("seed %d, call %d: cost %d of %+v:\n got %+v\nwant %+v", seed, i, charges[0].Cost, limit, got, want)
				}
			}
		})
	}
}

// However high the count is, a log has about a million entries at most.
func TestSlidingLogOfAHighCountIsBounded(t *testing.T) {
	l := limit{algorithm: ratelimit.SlidingLog, count: 1_000_000_000, period: 24 * time.Hour.Microseconds()}
	l.capacity = l.count
	var b bucket
	now := int64(1)
	for range 3_000_000 {
		if b.detail != nil {
			b = b.at(now, &l)
		}
		b = b.logged(1, now, &l)
		now += l.period / 2_000_000
	}
	if n := b.detail.log.size; n > maxTicks+1 {
		t.Errorf("%d entries: want at most one a tick, %d", n, maxTicks+1)
	}
	if b.used < 2_000_000 {
		t.Errorf("%d units count: want at least those of one period, 2000000", b.used)
	}
}

// Nothing of a log is dropped by a call that is refused, by a look, or by what is no use of it: a longer period finds it.
func TestRefusedCallDoesNotTrimALog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := New()
		long := ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: 5, Period: time.Hour}
		short := ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: 1, Period: time.Minute}
		take(t, store, one("key", long, 3))
		time.Sleep(2 * time.Minute)
		take(t, store, one("key", long, 1))
		if r := take(t, store, one("key", short, 1)); r.Allowed || r.RetryAfter != time.Minute {
			t.Errorf("over the short limit: %+v", r)
		}
		take(t, store, one("key", short, 0))
		peek(t, store, one("key", short, 1))
		if r := peek(t, store, one("key", long, 1)); r.Remaining != 1 {
			t.Errorf("by the long limit %d are left: want 1", r.Remaining)
		}
	})
}

func TestLogGivesItsMemoryBack(t *testing.T) {
	const entries = 200_000
	limit := ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: entries, Period: time.Hour}
	fill := func(t *testing.T) (*Store, []ratelimit.Charge) {
		store, charges := New(), one("key", limit, 1)
		for range entries {
			take(t, store, charges)
			time.Sleep(time.Microsecond)
		}
		return store, charges
	}
	ways := map[string]func(t *testing.T, store *Store, charges []ratelimit.Charge){
		"a refund": func(t *testing.T, store *Store, charges []ratelimit.Charge) {
			charges[0].Cost = entries - 1
			refund(t, store, charges)
		},
		"a call when most is over": func(t *testing.T, store *Store, charges []ratelimit.Charge) {
			time.Sleep(time.Hour - time.Millisecond)
			take(t, store, charges)
		},
		"the sweep when all is over": func(t *testing.T, store *Store, _ []ratelimit.Charge) {
			time.Sleep(time.Hour)
			for range 2 * maxShards * sweepEvery {
				take(t, store, one("another", limit, 1))
			}
		},
	}
	for name, empty := range ways {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				before := heapSize()
				store, charges := fill(t)
				full := heapSize() - before
				if full < 16*entries {
					t.Errorf("%d entries take %d bytes", entries, full)
				}
				empty(t, store, charges)
				if left := heapSize() - before; left > full/20 {
					t.Errorf("%d bytes are left of %d", left, full)
				}
				runtime.KeepAlive(store)
			})
		})
	}
}

// The ring is walked round and resized at any place of its start.
func TestLogKeepsItsOrderWhenItGrowsAndShrinks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var g log
	var want []logEntry
	total := int64(0)
	for now := range int64(20_000) {
		if wave := now / 500 % 2; random.Int64N(3) > wave {
			g.push(1+random.Int64N(3), now, 1)
			total = g.total()
			want = append(want, logEntry{at: now, total: total})
		} else if len(want) > 1 {
			n := 1 + random.IntN(min(3, len(want)-1))
			g.keep(total - want[n-1].total)
			want = want[n:]
		}
		if g.size != len(want) {
			t.Fatalf("%d entries: want %d", g.size, len(want))
		}
		if now%97 != 0 {
			continue
		}
		for i := range want {
			if *g.entry(i) != want[i] {
				t.Fatalf("at %d entry %d is %v: want %v", now, i, *g.entry(i), want[i])
			}
		}
	}
}
