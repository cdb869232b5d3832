package main

import (
	"slices"
	"strings"

	"github.com/ratelimitgen/ratelimitgen/internal/bench/limiters"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// flat is how much of the throughput must be left for it not to depend on what grows; where the work is in memory, which
// has caches, inCaches is how much longer a decision may take.
const (
	flat     = 0.8
	inCaches = 2
)

// growthRow is of the same work with more and more of something. The first entry has the most of it, and the goal is one
// beside the last, which has the least.
func growthRow(id, models, of string, sizes []int, g goal, newEntry func(name string, n int) entry) row {
	r := row{id: id, models: models}
	for _, n := range sizes {
		name := number(float64(n)) + " " + of
		if n == 1 {
			name = strings.TrimSuffix(name, "s")
		}
		r.entries = append(r.entries, newEntry(name, n))
		g.than = name
	}
	r.goals = []goal{g}
	return r
}

func sizesUpTo(most int, sizes ...int) []int {
	return slices.DeleteFunc(sizes, func(n int) bool { return n > most })
}

func growthRows(most int) []row {
	upTo := func(sizes ...int) []int { return sizesUpTo(most, sizes...) }
	memory, redis := atMost(inCaches, nanoseconds, ""), faster(flat, "")
	const scattered = "128 goroutines, keys in a scattered order, by redislimit"
	keysOverRedis := func(name string, n int) entry {
		return overRedis(name, limiters.Redis(ratelimit.TokenBucket), manyKeys(128, n))
	}
	memoryKeys := growthRow("growth-memory-keys", "one goroutine makes keys in a scattered order, and asks memlimit; the floor is the table of slots", "keys",
		upTo(10_000_000, 1_000_000, 100_000, 10_000, 1000), memory, freshInMemory("", limiters.Memory(ratelimit.TokenBucket)))
	floor := growthRow("", "", "keys", upTo(10_000_000, 1000), memory, freshInMemory("floor, ", limiters.Table))
	memoryKeys.entries = append(memoryKeys.entries, floor.entries...)
	memoryKeys.floor = floor.entries[0].name
	memoryKeys.why = `What grows is how long memory takes: a bucket among ten million is in no cache. The floor reads one slot, which no
store can avoid; one that grows and keeps its keys has to read what finds the bucket, and the key, as well.`
	tenMillion := growthRow("growth-redis-ten-million-keys", scattered, "keys", upTo(10_000_000, 1000), redis, keysOverRedis)
	tenMillion.long = true
	return []row{
		memoryKeys,
		newKeysRow(most),
		growthRow("growth-memory-limits", "one goroutine calls methods in turns, each with a limit of its own, by memlimit", "limits",
			upTo(1000, 100, 10, 1), memory, func(name string, n int) entry {
				return inMemory(name, limiters.Guards(n), load{callers: 1, keys: 1000, quota: limiters.Plenty})
			}),
		growthRow("growth-redis-keys", scattered, "keys", upTo(1_000_000, 100_000, 10_000, 1000), redis, keysOverRedis),
		tenMillion,
		growthRow("growth-redis-limits", "128 goroutines, 10,000 keys, for each of which one of the limits holds, by redislimit", "limits",
			upTo(1000, 100, 10, 1), redis, func(name string, n int) entry {
				return overRedis(name, limiters.RedisOf(ratelimit.TokenBucket, n, 1), manyKeys(128, min(10_000, most)))
			}),
	}
}

func freshInMemory(whose string, newLimiter limiters.Maker) func(name string, n int) entry {
	return func(name string, n int) entry {
		return inMemory(whose+name, newLimiter, load{callers: 1, keys: n, quota: limiters.Lasting, fresh: true})
	}
}
