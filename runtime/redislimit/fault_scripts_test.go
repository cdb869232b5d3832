package redislimit_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// S01, S02: a server that keeps forgetting the scripts decides each call all the same.
func TestScriptsForgottenUnderLoad(t *testing.T) {
	const span, every = time.Second, 10 * time.Millisecond
	server := redistest.Client(t)
	client := redis.NewClient(server.Options())
	defer func() { _ = client.Close() }()
	// A busy machine may take its time: here only the answers count, and all are to be the server's.
	store := redislimit.New(client, redislimit.Timeout(5*time.Second), redislimit.DenyCache(0))
	limit := ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1000, Period: time.Hour}
	var allowed atomic.Int64
	callers := underLoad(t, func(int) error {
		charges, results := []ratelimit.Charge{{Key: []byte("a"), Name: "1h", Limit: limit, Cost: 1}}, make([]ratelimit.Result, 1)
		err := store.Take(t.Context(), charges, results)
		if results[0].Allowed {
			allowed.Add(1)
		}
		return err
	})
	flush := time.NewTicker(every)
	defer flush.Stop()
	flushes := 0
	for end := time.Now().Add(span); time.Now().Before(end); flushes++ {
		<-flush.C
		if err := server.ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	callers.answered(t, time.Time{}, int(limit.Count)+1)
	made := callers.end()
	t.Logf("%d calls, %d times the scripts were forgotten: p99 %v", len(made), flushes, percentile(made, 99))
	onlyKinds(t, made)
	if n := allowed.Load(); n != limit.Count {
		t.Errorf("%d of %d calls were allowed: want %d", n, len(made), limit.Count)
	}
	if n := calls(t, server, "eval"); n < flushes/2 {
		t.Errorf("the scripts were sent %d times, and forgotten %d times: the test shows nothing", n, flushes)
	}
}

// What the server has lost of a bucket, by eviction or by a command, is as new, and no error.
func TestBucketsLostInMidLife(t *testing.T) {
	server := redistest.Client(t)
	store, results := redislimit.New(server), make([]ratelimit.Result, 1)
	for _, limit := range ofEach(5, time.Hour) {
		charges := []ratelimit.Charge{{Key: []byte("a"), Name: "1h", Limit: limit, Cost: 3, Holder: "ann"}}
		take(t, store, charges)
		if n := server.Del(t.Context(), keyOf(charges[0])).Val(); n != 1 {
			t.Fatalf("%v: %d keys were deleted: want one", limit.Algorithm, n)
		}
		if err := store.Peek(t.Context(), charges, results); err != nil || results[0].Remaining != 5 || results[0].ResetAfter != 0 {
			t.Errorf("%v: deleted: %+v, error %v: want it as new", limit.Algorithm, results[0], err)
		}
		if r := take(t, store, charges); !r.Allowed || r.Remaining != 2 {
			t.Errorf("%v: taken again: %+v: want 2 to remain", limit.Algorithm, r)
		}
	}
	held := []ratelimit.Charge{{Key: []byte("b"), Name: "1h", Limit: ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 5, Period: time.Hour}, Cost: 1, Holder: "ann"}}
	take(t, store, held)
	if err := server.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if renew(t, store, held)[0] {
		t.Error("a lease that the server has lost was renewed")
	}
}

// Where there is room for a few thousand of the buckets, those used least recently are forgotten. No call errs.
func TestEviction(t *testing.T) {
	const buckets = 20_000
	server := redistest.Client(t)
	used, err := server.InfoMap(t.Context(), "memory").Result()
	if err != nil {
		t.Fatal(err)
	}
	var before int64
	if _, err := fmt.Sscan(used["Memory"]["used_memory"], &before); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"maxmemory": fmt.Sprint(before + 1<<20), "maxmemory-policy": "allkeys-lru"} {
		if err := server.ConfigSet(t.Context(), name, value).Err(); err != nil {
			t.Fatal(err)
		}
	}
	store, results := redislimit.New(server, redislimit.Timeout(0)), make([]ratelimit.Result, 1)
	limits := ofEach(5, time.Hour)
	for i := range buckets {
		c := ratelimit.Charge{Key: fmt.Append(nil, i), Name: "1h", Limit: limits[i%len(limits)], Cost: 1, Holder: "ann"}
		if err := store.Take(t.Context(), []ratelimit.Charge{c}, results); err != nil || results[0].Remaining != 4 {
			t.Fatalf("bucket %d: %+v, error %v: want 4 to remain", i, results[0], err)
		}
	}
	left := server.DBSize(t.Context()).Val()
	t.Logf("%d of %d buckets are left", left, buckets)
	if left == 0 || left > buckets/2 {
		t.Errorf("%d of %d buckets are left: the test shows nothing", left, buckets)
	}
}
