package redislimit_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// pipelined counts the pipelines of a client that have several commands.
type pipelined struct{ several atomic.Int64 }

func (p *pipelined) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (p *pipelined) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (p *pipelined) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if len(cmds) > 1 {
			p.several.Add(1)
		}
		return next(ctx, cmds)
	}
}

// takeMany takes once for each of many keys at the same time, and returns the errors by key.
func takeMany(t *testing.T, store *redislimit.Store, keys int) map[string]error {
	t.Helper()
	var mu sync.Mutex
	errs := map[string]error{}
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			key := fmt.Sprint("key-", i)
			_, err := takeOne(t.Context(), store, key)
			mu.Lock()
			defer mu.Unlock()
			errs[key] = err
		})
	}
	wg.Wait()
	return errs
}

// left fails the test unless so many units of a key are left.
func left(t *testing.T, store *redislimit.Store, key string, want int64) {
	t.Helper()
	results := make([]ratelimit.Result, 1)
	eventually(t, func() error { return store.Peek(t.Context(), tb(key, 1), results) })
	if results[0].Remaining != want {
		t.Errorf("%s: %d remain: want %d", key, results[0].Remaining, want)
	}
}

// In a Cluster calls for many keys are one pipeline, which is sent again only for what its servers say they do not know.
func TestPipelineOfForgottenScripts(t *testing.T) {
	const keys, rounds = 200, 4
	client := redis.NewClusterClient(redistest.Cluster(t))
	defer func() { _ = client.Close() }()
	store, seen := redislimit.NewPatient(client), &pipelined{}
	client.AddHook(seen)
	for range rounds {
		eachServer(t, client, func(ctx context.Context, server *redis.Client) error { return server.ScriptFlush(ctx).Err() })
		for _, err := range takeMany(t, store, keys) {
			if err != nil {
				t.Error(err)
			}
		}
	}
	for i := range keys {
		left(t, store, fmt.Sprint("key-", i), 5-rounds)
	}
	if seen.several.Load() == 0 {
		t.Error("no calls went together: the test shows nothing")
	}
}

// A bucket in a pipeline that cannot be read is an error of its caller, and of nobody else.
func TestPipelineWithAForeignValue(t *testing.T) {
	const keys, foreign = 100, "key-50"
	client := redis.NewClusterClient(redistest.Cluster(t))
	defer func() { _ = client.Close() }()
	if err := client.RPush(t.Context(), "rl:{"+foreign+"}:tb:1m", "of another program").Err(); err != nil {
		t.Fatal(err)
	}
	store := redislimit.NewPatient(client)
	for range 3 {
		for key, err := range takeMany(t, store, keys) {
			if (kindOf(err) == redislimit.KindForeign) != (key == foreign) || err != nil && !strings.Contains(err.Error(), key) {
				t.Errorf("%s: error %v", key, err)
			}
		}
	}
	left(t, store, "key-1", 2)
}

// Where the replies to a pipeline are lost, each of its calls is charged once. By go-redis's defaults it is sent four times.
func TestLostReplyOfAPipeline(t *testing.T) {
	const keys = 64
	one, two := redistest.NewProxy(t, redistest.Start(t).Addr()), redistest.NewProxy(t, redistest.Start(t).Addr())
	client := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"one": one.Addr(), "two": two.Addr()}})
	defer func() { _ = client.Close() }()
	store, seen := redislimit.NewPatient(client), &pipelined{}
	client.AddHook(seen)
	for key, err := range takeMany(t, store, keys) { // the servers get to know the script
		if err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	one.Lose("evalsha")
	two.Lose("evalsha")
	errs := takeMany(t, store, keys)
	one.Forward()
	two.Forward()
	for key, err := range errs {
		switch kindOf(err) {
		case redislimit.KindConnection:
			left(t, store, key, 3)
		case redislimit.KindOutage: // it was not asked
			left(t, store, key, 4)
		default:
			t.Errorf("%s: error %v: want a connection that broke", key, err)
		}
	}
	if seen.several.Load() == 0 {
		t.Error("no calls went together: the test shows nothing")
	}
}
