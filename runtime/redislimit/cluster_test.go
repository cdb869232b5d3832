package redislimit_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/ratelimittest"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// TestCluster are the tests on real nodes, which take two seconds to start.
func TestCluster(t *testing.T) {
	options := redistest.Cluster(t)
	connect := func(t *testing.T) *redis.ClusterClient { return clusterClient(t, options) }
	t.Run("conformance", func(t *testing.T) { ratelimittest.RunByKey(t, onClock(connect(t))) })
	for _, test := range onShards {
		t.Run(test.name, func(t *testing.T) {
			client := connect(t)
			store, advance := clocked(t, client)
			test.run(t, shards{client, store, advance})
		})
	}
	t.Run("script forgotten by one node", func(t *testing.T) { scriptForgottenByOneNode(t, connect(t)) })
	t.Run("every algorithm on every node", func(t *testing.T) { everyAlgorithmOnEveryNode(t, connect(t)) })
	t.Run("scripts go to masters", func(t *testing.T) { scriptsGoToMasters(t, options) })
	t.Run("wrapped clients", func(t *testing.T) { wrappedClients(t, options) })
	t.Run("hidden cluster under load", func(t *testing.T) { hiddenClusterUnderLoad(t, options) })
	t.Run("overrides", func(t *testing.T) { overridesOfCluster(t, connect(t)) })
	t.Run("servers that have keys", func(t *testing.T) { serversThatHaveKeys(t, connect(t)) })
	t.Run("check", func(t *testing.T) { checkOfCluster(t, options) })
}

func clusterClient(t *testing.T, options *redis.ClusterOptions) *redis.ClusterClient {
	t.Helper()
	client := redis.NewClusterClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// Those that left are told from those that did not by the names by which calls go.
func serversThatHaveKeys(t *testing.T, client *redis.ClusterClient) {
	servers := map[string]bool{}
	for i := range 100 {
		servers[masterOf(t, client, fmt.Sprint(i)).Options().Addr] = true
	}
	members, err := redislimit.New(client).Members(t.Context())
	if want := slices.Sorted(maps.Keys(servers)); err != nil || !slices.Equal(slices.Sorted(slices.Values(members)), want) {
		t.Errorf("%q have keys, %v: want %q", members, err, want)
	}
}

// S02
func scriptForgottenByOneNode(t *testing.T, client *redis.ClusterClient) {
	const keys = 300
	store, _ := clocked(t, client)
	for i := range keys {
		if i == keys/2 {
			if err := masterOf(t, client, "rl:{0}:tb:1m").ScriptFlush(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
		}
		if r := take(t, store, tb(fmt.Sprint(i), 1)); r.Remaining != 4 {
			t.Fatalf("key %d: %d remain: want 4", i, r.Remaining)
		}
	}
}

// S05, S07: a script that touched a key other than those of its charges would sooner or later meet one of another node.
func everyAlgorithmOnEveryNode(t *testing.T, client *redis.ClusterClient) {
	const keys = 100
	store, _ := clocked(t, client)
	for i := range keys {
		everyAlgorithmOf(t, store, fmt.Sprint(i))
	}
}

// S22: whatever a client reads from replicas, they would refuse what a script writes.
func scriptsGoToMasters(t *testing.T, options *redis.ClusterOptions) {
	const calls = 500
	replica := redis.NewClient(&redis.Options{Addr: options.Addrs[len(options.Addrs)-1]})
	defer func() { _ = replica.Close() }()
	client := clusterClient(t, options)
	eventually(t, func() error {
		return client.ForEachMaster(t.Context(), func(ctx context.Context, node *redis.Client) error {
			told, err := node.Do(ctx, "cluster", "slots").Result()
			if _, port, _ := strings.Cut(replica.Options().Addr, ":"); err == nil && !strings.Contains(fmt.Sprint(told), port) {
				err = fmt.Errorf("clients are not told of the replica, but of %v", told)
			}
			return err
		})
	})
	tests := []struct {
		name   string
		change func(*redis.ClusterOptions)
		reads  bool // whether the client is sure to read from the replica
	}{
		{"ReadOnly", func(o *redis.ClusterOptions) { o.ReadOnly = true }, true},
		{"RouteByLatency", func(o *redis.ClusterOptions) { o.RouteByLatency = true }, false},
		{"RouteRandomly", func(o *redis.ClusterOptions) { o.RouteRandomly = true }, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := *options
			test.change(&o)
			client := clusterClient(t, &o)
			store, _ := clocked(t, client)
			if err := replica.ConfigResetStat(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			results := make([]ratelimit.Result, 1)
			for i := range calls {
				charges := tb(fmt.Sprint(i), 1)
				take(t, store, charges)
				if err := store.Peek(t.Context(), charges, results); err != nil || results[0].Remaining != 4 {
					t.Fatalf("peek: %d remain, error %v: want 4", results[0].Remaining, err)
				}
				client.Get(t.Context(), keyOf(charges[0])) // the replica may not have it yet
			}
			stats, err := replica.Info(t.Context(), "commandstats").Result()
			if err != nil || strings.Contains(stats, "cmdstat_eval") {
				t.Errorf("the replica was sent scripts, error %v: %s", err, stats)
			}
			if test.reads && !strings.Contains(stats, "cmdstat_get:") {
				t.Errorf("the replica was not read from: the test shows nothing: %s", stats)
			}
		})
	}
}

// S02, S04: its replica, which has never seen a script, takes over from a node that ends in the middle of a call.
func TestMasterEnds(t *testing.T) {
	options := redistest.Cluster(t)
	client := clusterClient(t, options)
	store, _ := clocked(t, client)
	lost := options.Addrs[0]
	var onLost, onOther []string
	for i := range 300 {
		key := fmt.Sprint(i)
		if masterOf(t, client, keyOf(tb(key, 1)[0])).Options().Addr == lost {
			onLost = append(onLost, key)
		} else {
			onOther = append(onOther, key)
		}
	}
	charges, results := append(tb(onOther[0], 1), tb(onLost[0], 1)...), make([]ratelimit.Result, 2)
	lease := cc(onOther[1], 1, "holder")
	take(t, store, lease)
	if err := store.Take(t.Context(), charges, results); err != nil {
		t.Fatal(err)
	}
	replica := redis.NewClient(&redis.Options{Addr: options.Addrs[len(options.Addrs)-1]})
	defer func() { _ = replica.Close() }()
	eventually(t, func() error {
		if keys := replica.Keys(t.Context(), "rl:*").Val(); len(keys) != 1 {
			return fmt.Errorf("the replica has %q: want one key", keys)
		}
		return nil
	})

	client.AddHook(onScripts(func() error {
		master := redis.NewClient(&redis.Options{Addr: lost})
		defer func() { _ = master.Close() }()
		_ = master.ShutdownNoSave(t.Context()) // which breaks the connection
		return nil
	}, 2))
	if err := store.Take(t.Context(), charges, results); err == nil || !strings.Contains(err.Error(), keyOf(charges[1])) {
		t.Errorf("error %v: want one that names %s", err, keyOf(charges[1]))
	}
	checkError(t, redislimit.New(client).Check(t.Context()), redislimit.KindConnection,
		fmt.Sprintf(`redislimit: check "rl:*": %[1]s: dial tcp %[1]s: connect: connection refused`, lost))
	if r := take(t, store, tb(onOther[0], 0)); r.Remaining != 4 {
		t.Errorf("of the other key %d remain: want 4", r.Remaining)
	}

	// Leases on other nodes must not end because those on the lost one cannot be renewed.
	var leases []ratelimit.Charge
	for _, key := range onLost {
		leases = append(leases, cc(key, 1, "holder")...)
	}
	leases = append(leases, lease...)
	held, start := make([]bool, len(leases)), time.Now()
	if err := store.Renew(t.Context(), leases, held); err == nil || !held[len(held)-1] {
		t.Errorf("renewal: error %v, held %v: want an error, and the last lease held", err, held)
	}
	if d := time.Since(start); d > 3*time.Second {
		t.Errorf("the renewal took %v: want 3 s at most", d)
	}

	if err := replica.Do(t.Context(), "cluster", "failover", "takeover").Err(); err != nil {
		t.Fatal(err)
	}
	taken := time.Now()
	eventually(t, func() error {
		err := store.Take(t.Context(), charges, results)
		if err != nil && strings.Contains(err.Error(), "NOSCRIPT") {
			t.Errorf("error %v", err)
		}
		return err
	})
	if d := time.Since(taken); d > 5*time.Second {
		t.Errorf("the client went on after %v: want 5 s at most", d)
	}
	for i, r := range results {
		if r.Remaining != 3 {
			t.Errorf("after the second call, %d of charge %d remain: want 3", r.Remaining, i)
		}
	}
}

// masterOf returns a client of the node that has the key.
func masterOf(t *testing.T, client *redis.ClusterClient, key string) *redis.Client {
	t.Helper()
	master, err := client.MasterForKey(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return master
}

// eventually repeats something until it succeeds.
func eventually(t *testing.T, do func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		err := do()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal(err)
		case <-poll.C:
		}
	}
}
