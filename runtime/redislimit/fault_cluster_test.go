package redislimit_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// replicationLag is for how long before its end a master's writes may be lost: its replicas hear of them without its
// waiting for that. On one machine it is far less.
const replicationLag = time.Second

// admissions is when calls for a bucket were admitted.
type admissions struct {
	mu sync.Mutex
	at map[string][]time.Time
}

func (a *admissions) add(bucket string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at[bucket] = append(a.at[bucket], time.Now())
}

// S02, S04, S05: under load a Cluster forgets scripts, moves slots, and loses a master, whose replica takes over. Only
// calls for keys of that master fail, and only until then. No bucket admits more than its limit, and what the replica had
// not heard of.
func TestClusterUnderLoad(t *testing.T) {
	const keys, moved, patience = 300, 10, time.Second // a machine that is busy with seven processes may be late
	nodes := redistest.Replicated(t)
	client := clusterClient(t, nodes.Options())
	store := redislimit.New(client, redislimit.Timeout(patience))
	limits := []ratelimit.Limit{
		{Count: 4, Period: time.Second, Burst: 6},
		{Algorithm: ratelimit.FixedWindow, Count: 3, Period: time.Hour},
	}
	charge := func(n int) ratelimit.Charge {
		limit := limits[n%len(limits)]
		return ratelimit.Charge{Key: fmt.Append(nil, n/len(limits)%keys), Name: "limit", Limit: limit, Cost: 1}
	}
	admitted := admissions{at: map[string][]time.Time{}}
	began := time.Now()
	callers := underLoad(func(n int) error {
		c, results := charge(n), make([]ratelimit.Result, 1)
		err := store.Take(t.Context(), []ratelimit.Charge{c}, results)
		if err == nil && results[0].Allowed {
			admitted.add(keyOf(c))
		}
		return err
	})

	callers.answered(t, began, 2*keys)
	eachServer(t, client, func(ctx context.Context, node *redis.Client) error { return node.ScriptFlush(ctx).Err() })
	slots := 0
	for i := 0; slots < moved; i++ {
		key := fmt.Sprint(i)
		if masterOf(t, client, key).Options().Addr != nodes.Masters[0].Addr() {
			continue
		}
		slots++
		if err := nodes.Move(t.Context(), int(client.ClusterKeySlot(t.Context(), key).Val()), nodes.Masters[0], nodes.Masters[2]); err != nil {
			t.Fatal(err)
		}
	}
	callers.answered(t, time.Now(), 10*keys) // the buckets of an hour are empty, and those of a second are most of the time
	lost := nodes.Masters[1]
	onLost := map[string]bool{}
	for n := range keys * len(limits) {
		key := keyOf(charge(n))
		onLost[key] = masterOf(t, client, key).Options().Addr == lost.Addr()
	}
	killed := time.Now()
	lost.Kill()
	var returned time.Duration
	var ofLost []ratelimit.Charge
	for n := range keys * len(limits) {
		if c := charge(n); onLost[keyOf(c)] {
			ofLost = []ratelimit.Charge{c}
		}
	}
	eventually(t, func() error {
		err := store.Peek(t.Context(), ofLost, make([]ratelimit.Result, 1))
		returned = time.Since(killed)
		return err
	})
	callers.answered(t, time.Now(), 10*keys)
	calls := callers.end()
	took := time.Since(began)

	before := slices.DeleteFunc(between(calls, began, killed), func(c called) bool { return c.at.Add(c.took).After(killed) })
	after := between(calls, killed, time.Now())
	onlyKinds(t, before)
	failed := onlyKinds(t, after, redislimit.KindTimeout, redislimit.KindConnection, redislimit.KindOutage, redislimit.KindClusterDown)
	var ofOthers []called
	for _, c := range after {
		if !onLost[keyOf(charge(c.n))] {
			ofOthers = append(ofOthers, c)
		}
	}
	othersFailed := onlyKinds(t, ofOthers)
	t.Logf("%d calls, then a master is killed; its keys are decided again after %v; %d calls, errors %v; %d of them for keys of others, errors %v",
		len(before), returned, len(after), failed, len(ofOthers), othersFailed)
	most := 0
	for bucket, at := range admitted.at {
		want := int(limits[1].Count)
		if bucket[len(bucket)-len("tb:limit"):] == "tb:limit" {
			want = int(limits[0].Burst) + int(float64(limits[0].Count)*took.Seconds()) + 1
		}
		extra := 0
		if onLost[bucket] {
			extra = len(slices.DeleteFunc(slices.Clone(at), func(at time.Time) bool {
				return at.Before(killed.Add(-replicationLag)) || at.After(killed)
			}))
		}
		most = max(most, len(at)-want)
		if len(at) > want+extra {
			t.Errorf("%s: %d calls were admitted in %v: want %d, and the %d of which the replica may not have heard", bucket, len(at), took, want, extra)
		}
	}
	t.Logf("%d calls were admitted beyond a limit", most)
}

// A reply that is lost charges once also where the key's slot is on the move, so that the call went to another node than
// at first.
func TestLostReplyOfARedirectedCall(t *testing.T) {
	options := redistest.Cluster(t)
	proxies := map[string]*redistest.Proxy{}
	for _, addr := range options.Addrs {
		proxies[addr] = redistest.NewProxy(t, addr)
	}
	options.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, proxies[addr].Addr())
	}
	client := clusterClient(t, options)
	store := redislimit.NewPatient(client)
	const key = "a"
	source := masterOf(t, client, key)
	masters := slices.DeleteFunc(slices.Clone(options.Addrs[:3]), func(addr string) bool { return addr == source.Options().Addr })
	other := redis.NewClient(&redis.Options{Addr: masters[0]})
	defer func() { _ = other.Close() }()
	slot := client.ClusterKeySlot(t.Context(), key).Val()
	ids := []string{source.ClusterMyID(t.Context()).Val(), other.ClusterMyID(t.Context()).Val()}
	for i := range 300 { // each node gets to know the script
		take(t, store, tb(fmt.Sprint(i), 1))
	}
	if err := other.Do(t.Context(), "cluster", "setslot", slot, "importing", ids[0]).Err(); err != nil {
		t.Fatal(err)
	}
	if err := source.Do(t.Context(), "cluster", "setslot", slot, "migrating", ids[1]).Err(); err != nil {
		t.Fatal(err)
	}

	proxy := proxies[other.Options().Addr]
	proxy.Lose("evalsha")
	if err := store.Take(t.Context(), fw(key, 1), make([]ratelimit.Result, 1)); kindOf(err) != redislimit.KindConnection {
		t.Errorf("error %v: want a connection that broke", err)
	}
	proxy.Forward()
	if n := proxy.Lost(); n != 1 {
		t.Errorf("the command was executed %d times: want once", n)
	}
	if r := take(t, store, fw(key, 0)); r.Remaining != 4 {
		t.Errorf("%d remain: want 4", r.Remaining)
	}
}

// R45: while a master is gone, calls for a key of its and one of another master fail, and what they took of the other is
// given back: in the end it was charged for those calls only that were admitted.
func TestOtherKeysAreGivenBackUnderLoad(t *testing.T) {
	const calls = 500
	options := redistest.Cluster(t)
	client := clusterClient(t, options)
	store := redislimit.New(client, redislimit.Timeout(time.Second))
	limit := ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1_000_000, Period: time.Hour}
	charge := func(key int) ratelimit.Charge {
		return ratelimit.Charge{Key: fmt.Append(nil, key), Name: "1h", Limit: limit, Cost: 1}
	}
	of := map[string]ratelimit.Charge{} // a bucket of each master
	for key := 0; len(of) < 3; key++ {
		of[masterOf(t, client, keyOf(charge(key))).Options().Addr] = charge(key)
	}
	lost, other := of[options.Addrs[1]], of[options.Addrs[2]]
	var admitted atomic.Int64
	callers := underLoad(func(int) error {
		results := make([]ratelimit.Result, 2)
		err := store.Take(t.Context(), []ratelimit.Charge{other, lost}, results)
		if err == nil && results[0].Allowed {
			admitted.Add(1)
		}
		return err
	})
	callers.answered(t, time.Now(), calls)
	server := redis.NewClient(&redis.Options{Addr: options.Addrs[1]})
	_ = server.ShutdownNoSave(t.Context()) // which breaks the connection
	_ = server.Close()
	eventually(t, func() error {
		if failed := callers.failed(); failed < calls {
			return fmt.Errorf("%d calls failed: want %d", failed, calls)
		}
		return nil
	})
	made := callers.end()
	kinds := onlyKinds(t, made, redislimit.KindTimeout, redislimit.KindConnection, redislimit.KindOutage, redislimit.KindClusterDown)
	t.Logf("%d calls, errors %v, %d admitted", len(made), kinds, admitted.Load())
	eventually(t, func() error { // some are given back when the call has ended
		results := make([]ratelimit.Result, 1)
		if err := store.Peek(t.Context(), []ratelimit.Charge{other}, results); err != nil {
			return err
		}
		if used := limit.Count - results[0].Remaining; used != admitted.Load() {
			return fmt.Errorf("%d were charged: want the %d that were admitted", used, admitted.Load())
		}
		return nil
	})
}
