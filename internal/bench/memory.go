package main

import (
	"context"
	"slices"
	"testing"

	"github.com/ratelimitgen/ratelimitgen/internal/bench/limiters"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// inMemory returns an entry of a limiter in memory.
func inMemory(name string, newLimiter limiters.Maker, l load) entry {
	return entry{name, memorySlowness(l), func(ctx context.Context, t testing.TB) round {
		loaded := l.start(ctx, t, newLimiter, nil)
		return func(ctx context.Context, turn turn) (sample, error) {
			got, err := loaded.run(ctx, turn)
			return sample{
				nanoseconds: float64(got.took.Nanoseconds()) / float64(got.calls),
				mallocs:     got.mallocsPerCall(),
			}, err
		}
	}}
}

// memorySlowness returns how much longer a round is in which callers are to come past each of many keys.
func memorySlowness(l load) int {
	if l.keys > 10_000 {
		return 10
	}
	return 1
}

const (
	oursInMemory = "memlimit"
	goLimiter    = "go-limiter"
	throttled    = "throttled"
	table        = "floor: table of slots"
)

// fit returns the row without those who cannot bear the load.
func (r row) fit(l load) row {
	if l.keys == 1 && l.callers > 1 { // throttled gives up a call when others have changed its key ten times meanwhile
		r.entries = slices.DeleteFunc(r.entries, func(e entry) bool { return e.name == throttled })
	}
	return r
}

// memoryRow is of decisions whose key is at hand. All are allowed.
func memoryRow(id, models, why string, l load, goLimiterBound float64) row {
	l.quota = limiters.Plenty
	return row{
		id: id, models: models, why: why, floor: table,
		entries: []entry{
			inMemory(oursInMemory, limiters.Memory(ratelimit.TokenBucket), l),
			inMemory("memlimit, leaky-bucket", limiters.Memory(ratelimit.LeakyBucket), l),
			inMemory("memlimit, fixed-window", limiters.Memory(ratelimit.FixedWindow), l),
			inMemory(goLimiter, limiters.GoLimiter, l),
			inMemory(throttled, limiters.ThrottledMemory, l),
			inMemory("httprate, counter", limiters.HTTPRate, l),
			inMemory("x/time/rate in sync.Map", limiters.XTimeSyncMap, l),
			inMemory("x/time/rate in Mutex and map", limiters.XTimeMutexMap, l),
			inMemory("x/time/rate, one for all keys", limiters.XTime, l),
			inMemory("ulule", limiters.UluleMemory, l),
			inMemory(table, limiters.Table, l),
			inMemory("floor: one bucket, no key", limiters.OneBucket, l),
			inMemory("floor: time.Since", limiters.Clock, l),
			inMemory("floor: time.Now", limiters.WallClock, l),
		},
		goals: []goal{atMost(goLimiterBound, nanoseconds, goLimiter), atMost(1.5, nanoseconds, table), atMost(0, mallocs, "")},
	}.fit(l)
}

const (
	whyHot = `By the profile of one goroutine on an Intel Xeon, of 70 ns 20 read the clock, 9 lock and unlock, 8 are arithmetic, 7 the
benchmark's own, 6 look at the call and its limit, 4 find and compare the record, 3 hash, and the rest holds these together.
Without the division, without the look at the limit, or without the checks of bounds it took as long: the clock and the lock wait
for all that comes before them.`
	whyRandom = `By the profile of one goroutine, of 231 ns 39 wait for the key's own bytes, 30 for the line of the table that says where the
record is, and 40 for the record, one after the other, as all three are in no cache; 9 go to records of other keys that a byte of
the hash does not tell apart, or for which a line has no place; the other 113 are what takes 70 in memory-hot. The floor reads two. It took
as long with lines for 5 to 10 records each. In a model of these reads alone the whole took 0.83 of the time on huge pages, which
Go does not ask for, and 0.9 to 1 of it with a table of 0.3 MB instead of 0.8: less needs records that lie inside the table.`
	whyDecorator = `Of the 50 ns on top of what memlimit does in memory-hot, by the profile some 20 read the caller's address
from the context and build the key of it, more where a hundred thousand contexts are in no cache, 12 put the charge together, and 20 are sync.Pool's, which has the memory of a
decision at hand: a charge goes through an interface, and may not lie on the stack. The rest is the calls from one to the next, the
looks for a recorder, observers and overrides, and that the context has not ended. To write the numbers of an address from a
table made no difference.`
)

func memoryRows(most int) []row {
	many := min(100_000, most)
	return []row{
		memoryRow("memory-hot", "one goroutine, one hot key", whyHot, load{callers: 1, keys: 1}, 0.8),
		memoryRow("memory-random", "one goroutine, 100,000 keys in a scattered order", whyRandom, load{callers: 1, keys: many}, 0.5),
		memoryRow("memory-2", "two goroutines, 100,000 keys in a scattered order", whyRandom, load{callers: 2, keys: many}, 0.8),
		memoryRow("memory-2-hot", "two goroutines, one hot key", whyHot, load{callers: 2, keys: 1}, 0.8),
	}
}

// decoratorRow is of calls of a generated decorator in front of a method that does nothing.
func decoratorRow(id, models string, l load) row {
	l.quota = limiters.Plenty
	const shared, template = "decorator, shared key", "decorator, key template"
	return row{
		id: id, models: models, why: whyDecorator, floor: "floor: time.Since",
		entries: []entry{
			inMemory("decorator, ip=true", limiters.DecoratorPerIP, l),
			inMemory(shared, limiters.DecoratorShared, l),
			inMemory(template, limiters.DecoratorTemplate, l),
			inMemory("memlimit, prebuilt key", limiters.Memory(ratelimit.TokenBucket), l),
			inMemory(goLimiter, limiters.GoLimiter, l),
			inMemory("floor: time.Since", limiters.Clock, l),
		},
		goals: []goal{
			atMost(1.5, nanoseconds, goLimiter),
			atMost(0, mallocs, ""), atMost(0, mallocs, "").of(shared), atMost(0, mallocs, "").of(template),
		},
	}
}

func decoratorRows(most int) []row {
	const direct = "interface, no decorator"
	const anotherCall = 2 // ns, of one more call through an interface
	plain := load{callers: 1, keys: 1, quota: limiters.Plenty}
	return []row{
		decoratorRow("decorator-hot", "one goroutine calls decorated methods for one client", load{callers: 1, keys: 1}),
		decoratorRow("decorator-random", "one goroutine calls decorated methods for 100,000 clients in a scattered order", load{callers: 1, keys: min(100_000, most)}),
		{
			id: "decorator-free", models: "a method without a limit, of a decorator and without one, and what the benchmark itself takes",
			entries: []entry{
				inMemory("decorator, no limit", limiters.DecoratorFree, plain),
				inMemory(direct, limiters.Direct, plain),
			},
			goals: []goal{{metric: nanoseconds, than: direct, minus: true, bound: anotherCall}, atMost(0, mallocs, "")},
		},
	}
}
