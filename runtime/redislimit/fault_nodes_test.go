package redislimit_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

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
	callers := underLoad(t, func(int) error {
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
