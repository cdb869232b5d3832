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

// growthRow is of the same work with more and more of something. The first entry has the most of it.
func growthRow(id, models, of string, sizes []int, newEntry func(name string, n int) entry, goals func(least string) []goal) row {
	r := row{id: id, models: models}
	for _, n := range sizes {
		name := number(float64(n)) + " " + of
		if n == 1 {
			name = strings.TrimSuffix(name, "s")
		}
		r.entries = append(r.entries, newEntry(name, n))
	}
	r.goals = goals(r.entries[len(r.entries)-1].name)
	return r
}

func growthRows(most int) []row {
	upTo := func(sizes ...int) []int { return slices.DeleteFunc(sizes, func(n int) bool { return n > most }) }
	inMemoryGoals := func(least string) []goal { return []goal{atMost(inCaches, nanoseconds, least)} }
	overRedisGoals := func(least string) []goal { return []goal{faster(flat, least)} }
	keysOverRedis := func(name string, n int) entry {
		return overRedis(name, limiters.Redis(ratelimit.TokenBucket), manyKeys(128, n))
	}

	memoryKeys := growthRow("growth-memory-keys", "one goroutine, keys in a scattered order, by memlimit", "keys",
		upTo(10_000_000, 1_000_000, 100_000, 10_000, 1000), func(name string, n int) entry {
			return inMemory(name, limiters.Memory(ratelimit.TokenBucket), load{callers: 1, keys: n, quota: limiters.Lasting})
		}, inMemoryGoals)
	memoryLimits := growthRow("growth-memory-limits", "one goroutine calls methods in turns, each with a limit of its own, by memlimit", "limits",
		upTo(1000, 100, 10, 1), func(name string, n int) entry {
			return inMemory(name, limiters.Guards(n), load{callers: 1, keys: 1000, quota: limiters.Plenty})
		}, inMemoryGoals)
	redisKeys := growthRow("growth-redis-keys", "128 goroutines, keys in a scattered order, by redislimit", "keys",
		upTo(1_000_000, 100_000, 10_000, 1000), keysOverRedis, overRedisGoals)
	tenMillion := growthRow("growth-redis-ten-million-keys", "128 goroutines, keys in a scattered order, by redislimit", "keys",
		upTo(10_000_000, 1000), keysOverRedis, overRedisGoals)
	tenMillion.long = true
	redisLimits := growthRow("growth-redis-limits", "128 goroutines, 10,000 keys, for each of which one of the limits holds, by redislimit", "limits",
		upTo(1000, 100, 10, 1), func(name string, n int) entry {
			return overRedis(name, limiters.RedisOf(ratelimit.TokenBucket, n, 1), manyKeys(128, min(10_000, most)))
		}, overRedisGoals)
	return []row{memoryKeys, memoryLimits, redisKeys, tenMillion, redisLimits}
}
