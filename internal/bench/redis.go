package main

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ratelimitgen/ratelimitgen/internal/bench/limiters"
	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// oneServer starts a server of an entry's own.
func oneServer(t testing.TB) []string { return []string{redistest.Server(t).Addr} }

// masters is how many there are in a redistest.Cluster, whose addresses come first.
const masters = 3

func cluster(t testing.TB) []string { return redistest.Cluster(t).Addrs[:masters] }

// overRedis returns an entry of a limiter through Redis.
func overRedis(name string, newLimiter limiters.Maker, l load) entry {
	return onServers(name, newLimiter, l, oneServer)
}

func onServers(name string, newLimiter limiters.Maker, l load, start func(testing.TB) []string) entry {
	return entry{name, redisSlowness(l), func(ctx context.Context, t testing.TB) round {
		addrs := start(t)
		watched := watch(t, addrs)
		loaded := l.start(ctx, t, newLimiter, addrs)
		keys, err := watched.keys(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return func(ctx context.Context, turn turn) (sample, error) {
			before, err := watched.usage(ctx)
			if err != nil {
				return nil, err
			}
			got, err := loaded.run(ctx, turn)
			if err != nil {
				return nil, err
			}
			after, err := watched.usage(ctx)
			if err != nil {
				return nil, err
			}
			if err := watched.stillHas(ctx, keys); err != nil {
				return nil, err
			}
			calls := float64(got.calls)
			s := sample{
				rate:      calls / got.took.Seconds(),
				serverCPU: (after.cpu - before.cpu) * 1e6 / calls,
				scripts:   float64(after.scripts-before.scripts) / calls,
				mallocs:   got.mallocsPerCall(),
			}
			if l.timed {
				s[p50], s[p99] = micros(got.latencies.quantile(0.50)), micros(got.latencies.quantile(0.99))
			}
			return s, nil
		}
	}}
}

// redisSlowness returns how much longer than in memory a round is, in which each caller is to have several answers.
func redisSlowness(l load) int {
	if l.callers > 1000 {
		return 12
	}
	return 3
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

const (
	oursOverRedis = "redislimit"
	endsWaits     = "redislimit, ContextTimeoutEnabled"
	redisRate     = "redis_rate"
	rueidis       = "GCRA over rueidis"
	empty         = `floor: EVALSHA "return 1"`
)

// redisRow is of decisions of one process through a server on loopback, which shares the machine with its client. All are
// allowed.
func redisRow(id, models, why string, l load, goals ...goal) row {
	return row{
		id: id, models: models, why: why, floor: empty,
		entries: []entry{
			overRedis(oursOverRedis, limiters.Redis(ratelimit.TokenBucket), l),
			overRedis("redislimit, leaky-bucket", limiters.Redis(ratelimit.LeakyBucket), l),
			overRedis(redisRate, limiters.RedisRate, l),
			overRedis(rueidis, limiters.Rueidis, l),
			overRedis("ulule", limiters.UluleRedis, l),
			overRedis(throttled, limiters.ThrottledRedis, l),
			overRedis(empty, limiters.EmptyScript, l),
			overRedis("floor: PING", limiters.Ping, l),
		},
		goals: goals,
	}.fit(l)
}

// aloneRow is of a caller that has nobody to go with. By its defaults go-redis waits for a reply whatever the context says;
// with the option to look at it, a lone call needs no goroutine to wait in.
func aloneRow(l load) row {
	r := redisRow("redis-1", "one goroutine, 10,000 keys", whyAlone, l, faster(1, redisRate), faster(1, redisRate).of(endsWaits))
	r.entries = slices.Insert(r.entries, 1, overRedis(endsWaits, limiters.RedisEndsWaits, l))
	return r
}

func redisRows(most int) []row {
	many := func(callers int) load { return manyKeys(callers, min(10_000, most)) }
	crowd := []goal{
		faster(4.5, redisRate), atMost(0.25, p50, redisRate), atMost(0.25, p99, redisRate),
		atMost(0.25, serverCPU, redisRate), atMost(13, mallocs, ""),
	}
	return []row{
		aloneRow(many(1)),
		redisRow("redis-16", "16 goroutines, 10,000 keys", whyFew, many(16), faster(1.5, redisRate), faster(1, rueidis)),
		redisRow("redis-128", "128 goroutines, 10,000 keys", whyCrowd, many(128), crowd...),
		redisRow("redis-1024", "1024 goroutines, 10,000 keys", whyCrowd, many(1024), crowd...),
		redisRow("redis-hot-64", "64 goroutines, one hot key", whyOneKey, load{callers: 64, keys: 1, quota: limiters.Plenty}, faster(6, redisRate)),
		redisRow("redis-hot-1024", "1024 goroutines, one hot key", whyOneKey, load{callers: 1024, keys: 1, quota: limiters.Plenty}, faster(40, redisRate)),
		refusedRow(),
		threeLimitsRow("redis-three-limits-1", "one goroutine", many(1)),
		threeLimitsRow("redis-three-limits-128", "128 goroutines", many(128)),
		prefetchRow("redis-prefetch", 64),
		prefetchRow("redis-prefetch-1024", 1024),
		clusterRow(many(128)),
	}
}

const (
	whyAlone = `By its defaults go-redis waits for a reply whatever the context says, so a call waits in another goroutine to return in time.
That wakes threads: it takes the process 50 µs of CPU time, where a client with ContextTimeoutEnabled takes 23, and redis_rate 20. The
script of a lone decision takes the server 8 to 9 µs, and that of redis_rate 7.`
	whyFew = `So few callers leave both sides idle for half of the time: of the 23 µs that two cores have for a decision, the process takes 5.5 and
the server 5.9. The rest is how long threads take to be woken, on both sides for each exchange of some 13 calls, and differs much
between machines. With more exchanges under way, or with each half of the callers in one, it took as long.`
	whyCrowd = `Of the 4.5 µs of CPU time that a decision takes the server, 2.9 are the script's: GET and SET with an expiry take 1.3, to read and
to write the texts of the numbers 0.7, and arithmetic, the reply and what Lua does for itself the rest. The other 1.6 are to read the
key and to write three integers. The process takes 4.7, of which a quarter is to get in line, a sixth is go-redis's, and a tenth
is to wait. Batches of 32 were no faster with 128 callers, and slower with 1024. One MGET for all, or PXAT in place of PX, saved
nothing, and a text as the reply took longer.`
	whyOneKey = `Calls of one bucket are merged into one charge, so that the server has hardly anything to do, as its CPU time says. What is left
is the process's own: each call gets in line, waits and is woken. By the profile of 1024 callers 27 % is to wait for two things, the
answer and the end of the caller's context, 16 % is the scheduler's, 13 % to get in line, and 7 % to be woken. A second core adds
nothing, as all callers meet at one bucket: GOMAXPROCS=1 decides as many calls. To wait for the answer alone at first took 0.95 of
the time, and was not worth that a call hears late that it is canceled; channels of their own for parts of the callers changed
nothing.`
	whyThree = `Three buckets are read and written, of which each costs the server what one does; with 128 goroutines it is the server that is
busy.`
	whyPrefetch = `So many callers use up 100 units at once, and wait for the next 100: it is 100 decisions a round trip, which takes some 150 µs here
with all that has to be woken. Calls of one process at the same time are gathered without prefetch, too, and then one script decides
all that wait: see how many scripts there are a decision.`
	whyCluster = `A Cluster runs a script for one slot only, and of 10,000 keys hardly two of those that go together are in the same. A script by
itself takes the server 5 µs longer than the share of one in a batch.`
)

func manyKeys(callers, keys int) load {
	return load{callers: callers, keys: keys, quota: limiters.Lasting, timed: true}
}

func refusedRow() row {
	l := load{callers: 64, keys: 1, quota: limiters.Scarce}
	return row{
		id: "redis-refused", models: "64 goroutines, one hot key that is over its limit of one call a day",
		entries: []entry{
			warmed(overRedis(oursOverRedis, limiters.Redis(ratelimit.TokenBucket), l)),
			warmed(overRedis(redisRate, limiters.RedisRate, l)),
		},
		goals: []goal{faster(100, redisRate)},
	}
}

// warmed returns an entry of which a first round is not measured: it lasts until a redislimit.Store has seen that the
// server's clock runs as its own, and remembers refusals.
func warmed(e entry) entry {
	start := e.start
	e.start = func(ctx context.Context, t testing.TB) round {
		run := start(ctx, t)
		if _, err := run(ctx, turn{1, 2 * time.Second}); err != nil {
			t.Fatal(err)
		}
		return run
	}
	return e
}

func threeLimitsRow(id, models string, l load) row {
	const one = "redislimit, one limit"
	return row{
		id: id, models: models + ", 10,000 keys, three limits on each call", why: whyThree,
		entries: []entry{
			overRedis("redislimit, three limits", limiters.RedisOf(ratelimit.TokenBucket, 3, 3), l),
			overRedis(one, limiters.Redis(ratelimit.TokenBucket), l),
		},
		goals: []goal{atMost(1, scripts, ""), atMost(1.5, p50, one)},
	}
}

func prefetchRow(id string, callers int) row {
	l := load{callers: callers, keys: 1, quota: limiters.Plenty}
	return row{
		id: id, models: fmt.Sprintf("%d goroutines ask a guard, as decorators do, that has one bucket for all and prefetch=100", callers),
		why: whyPrefetch,
		entries: []entry{
			overRedis("guard, prefetch=100", limiters.Prefetch(100), l),
			overRedis("redislimit, no prefetch", limiters.Redis(ratelimit.TokenBucket), l),
			overRedis(redisRate, limiters.RedisRate, l),
		},
		goals: []goal{faster(20, redisRate)},
	}
}

func clusterRow(l load) row {
	return row{
		id: "cluster-128", models: "128 goroutines, 10,000 keys, a Redis Cluster of three on the same machine",
		why: whyCluster,
		entries: []entry{
			onServers(oursOverRedis, limiters.Redis(ratelimit.TokenBucket), l, cluster),
			onServers(redisRate, limiters.RedisRate, l, cluster),
			onServers(rueidis, limiters.Rueidis, l, cluster),
		},
		goals: []goal{faster(2, redisRate)},
	}
}
