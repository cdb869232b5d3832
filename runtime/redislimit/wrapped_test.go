package redislimit_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// wrapped are clients of several servers as programs wrap them.
type (
	wrappedCluster struct{ *redis.ClusterClient }
	wrappedRing    struct{ *redis.Ring }
	hidden         struct{ redis.UniversalClient }
)

// wrappedClients have a Store split calls for keys that live apart also where its client wraps one that knows of several
// servers. One that does not show what it leads to is told as a mistake of the program: in silence it would leave each call
// for several keys to the policy of outages, for ever.
func wrappedClients(t *testing.T, options *redis.ClusterOptions) {
	client := clusterClient(t, options)
	keysApart(t, wrappedCluster{client})
	pipelined, err := client.AutoPipeline()
	if err != nil {
		t.Fatal(err)
	}
	for _, client := range []redis.UniversalClient{hidden{client}, pipelined} {
		store := redislimit.NewPatient(client)
		checkError(t, store.Check(t.Context()), redislimit.KindMisconfigured, fmt.Sprintf(crossSlot, "redis"))
		err := store.Take(t.Context(), append(tb("hidden", 1), tb("other", 1)...), make([]ratelimit.Result, 2))
		if kindOf(err) != redislimit.KindMisconfigured || !errors.Is(err, ratelimit.ErrMisconfigured) {
			t.Errorf("%T: error %v: want one of kind misconfigured", client, err)
		}
		take(t, store, tb("hidden", 1))
	}
}

func TestWrappedRing(t *testing.T) {
	one, two := redistest.Server(t), redistest.Server(t)
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"one": one.Addr, "two": two.Addr}})
	defer func() { _ = ring.Close() }()
	keysApart(t, wrappedRing{ring})
}

// keysApart checks that calls for keys of several servers are decided.
func keysApart(t *testing.T, client redis.UniversalClient) {
	t.Helper()
	store := redislimit.NewPatient(client)
	if err := store.Check(t.Context()); err != nil {
		t.Errorf("%T: %v", client, err)
	}
	var charges []ratelimit.Charge
	for i := range 20 {
		charges = append(charges, tb(fmt.Sprint(i), 1)...)
	}
	results := make([]ratelimit.Result, len(charges))
	if err := store.Take(t.Context(), charges, results); err != nil {
		t.Fatalf("%T: %v", client, err)
	}
	for i, r := range results {
		if r.Remaining != 4 {
			t.Errorf("%T: charge %d: %d remain: want 4", client, i, r.Remaining)
		}
	}
	if err := store.Reset(t.Context(), charges); err != nil {
		t.Errorf("%T: %v", client, err)
	}
}

// A client of a Cluster finds no keys where there is none.
func TestClusterClientOfOneServer(t *testing.T) {
	client := clusterClient(t, &redis.ClusterOptions{Addrs: []string{redistest.Server(t).Addr}})
	store := redislimit.NewPatient(client)
	const says = "ERR This instance has cluster support disabled"
	checkError(t, store.Check(t.Context()), redislimit.KindMisconfigured, `redislimit: check "rl:*": `+says+": the server is not one of a Cluster, and needs a redis.Client")
	_, err := takeOne(t.Context(), store, "a")
	if want := `redislimit: take "rl:{a}:tb:1m": ` + says; err == nil || err.Error() != want || !errors.Is(err, ratelimit.ErrMisconfigured) {
		t.Errorf("error %v: want %s, as a mistake of the program", err, want)
	}
}

// The way by which a client collects commands makes no difference to one server.
func TestAutoPipelineOfOneServer(t *testing.T) {
	pipelined, err := redistest.Client(t).AutoPipeline()
	if err != nil {
		t.Fatal(err)
	}
	store := redislimit.NewPatient(pipelined)
	if err := store.Check(t.Context()); err != nil {
		t.Error(err)
	}
	everyAlgorithm(t, store)
}
