package redislimit_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// What the clients of a Cluster and of a Ring do by themselves.
var forCluster, forRing = []string{"+cluster|slots", "+command"}, []string{"+ping"}

const (
	needsCluster = "the server is one of a Cluster, which needs a redis.ClusterClient"
	crossSlot    = `redislimit: check "rl:*": %s: CROSSSLOT Keys in request don't hash to the same slot: ` + needsCluster
)

// checkOfCluster has Check find, by name, the one of several masters that is not as it should be.
func checkOfCluster(t *testing.T, options *redis.ClusterOptions) {
	client := clusterClient(t, options)
	for _, prefix := range []string{"rl:", "{shop}:"} {
		if err := redislimit.New(client, redislimit.Prefix(prefix)).Check(t.Context()); err != nil {
			t.Errorf("with the prefix %s: %v", prefix, err)
		}
	}
	t.Run("user with the least rights", func(t *testing.T) {
		limited := clusterClient(t, limitedTo(t, options, append(leastRights(t), forCluster...)))
		if err := redislimit.New(limited).Check(t.Context()); err != nil {
			t.Error(err)
		}
		everyAlgorithm(t, redislimit.NewPatient(limited))
	})
	t.Run("user whose client may not look up commands", func(t *testing.T) {
		var want []string
		for _, addr := range slices.Sorted(slices.Values(options.Addrs[:3])) {
			want = append(want, fmt.Sprintf(`redislimit: check "rl:*": %s: the user lacks +command`, addr))
		}
		limited := clusterClient(t, limitedTo(t, options, append(leastRights(t), "+cluster|slots")))
		checkError(t, redislimit.New(limited).Check(t.Context()), redislimit.KindForbidden, strings.Join(want, "\n"))
	})
	t.Run("user who lacks a right on two servers", func(t *testing.T) {
		var want []string
		for _, addr := range slices.Sorted(slices.Values(options.Addrs[:2])) {
			want = append(want, fmt.Sprintf(`redislimit: check "rl:*": %s: the user lacks +zrem`, addr))
		}
		limited := limitedTo(t, options, append(leastRights(t), forCluster...))
		for _, addr := range options.Addrs[:2] {
			node := redis.NewClient(&redis.Options{Addr: addr})
			defer func() { _ = node.Close() }()
			if err := node.ACLSetUser(t.Context(), limited.Username, "-zrem").Err(); err != nil {
				t.Fatal(err)
			}
		}
		err := redislimit.New(clusterClient(t, limited)).Check(t.Context())
		checkError(t, err, redislimit.KindForbidden, strings.Join(want, "\n"))
	})
	t.Run("user who may not ask where keys live", func(t *testing.T) {
		limited := clusterClient(t, limitedTo(t, options, leastRights(t)))
		checkError(t, redislimit.New(limited).Check(t.Context()), redislimit.KindForbidden, // in the words of this version
			fmt.Sprintf(`redislimit: check "rl:*": %v`, limited.Get(t.Context(), "key").Err()))
	})
	t.Run("client of one server", func(t *testing.T) {
		one := redis.NewClient(&redis.Options{Addr: options.Addrs[0]})
		defer func() { _ = one.Close() }()
		checkError(t, redislimit.New(one).Check(t.Context()), redislimit.KindMisconfigured, fmt.Sprintf(crossSlot, options.Addrs[0]))
		other := redislimit.New(one, redislimit.Prefix(prefixOn(t, client, options.Addrs[1])))
		if err := other.Check(t.Context()); kindOf(err) != redislimit.KindClusterDown || !strings.Contains(err.Error(), "MOVED") || !strings.HasSuffix(err.Error(), needsCluster) {
			t.Errorf("with a prefix of another's: error %v: want MOVED, and that %s", err, needsCluster)
		}
		if err := redislimit.New(one, redislimit.Prefix(prefixOn(t, client, options.Addrs[0]))).Check(t.Context()); err != nil {
			t.Errorf("with a prefix of its own: %v", err)
		}
	})
	t.Run("slots that nobody has", func(t *testing.T) {
		var want []string
		for _, addr := range slices.Sorted(slices.Values(options.Addrs[:3])) {
			want = append(want, fmt.Sprintf(`redislimit: check "rl:*": %s: no master has 10 of the 16384 slots`, addr))
		}
		eachServer(t, client, func(ctx context.Context, node *redis.Client) error {
			return node.ClusterDelSlotsRange(ctx, 0, 9).Err()
		})
		defer func() { // the others will be told
			first := redis.NewClient(&redis.Options{Addr: options.Addrs[0]})
			defer func() { _ = first.Close() }()
			if err := first.ClusterAddSlotsRange(t.Context(), 0, 9).Err(); err != nil {
				t.Error(err)
			}
		}()
		store := redislimit.New(clusterClient(t, options))
		err := store.Check(t.Context())
		for err != nil && strings.Contains(err.Error(), "CLUSTERDOWN") { // by chance its keys were in one of them
			err = store.Check(t.Context())
		}
		checkError(t, err, redislimit.KindClusterDown, strings.Join(want, "\n"))
	})
	eachServer(t, client, func(ctx context.Context, node *redis.Client) error {
		if keys := node.Keys(ctx, "*check:*").Val(); len(keys) != 0 {
			return fmt.Errorf("left behind is %q", keys)
		}
		return nil
	})
}

// limitedTo makes a user of these rights on all nodes, and returns the options of that user's client.
func limitedTo(t *testing.T, options *redis.ClusterOptions, rights []string) *redis.ClusterOptions {
	t.Helper()
	limited := *options
	for _, addr := range options.Addrs {
		user := redistest.User(t, &redis.Options{Addr: addr}, "limiter", rights...)
		limited.Username, limited.Password = user.Username, user.Password
	}
	return &limited
}

// prefixOn returns a prefix that keeps all keys on one node.
func prefixOn(t *testing.T, client *redis.ClusterClient, addr string) string {
	t.Helper()
	for i := 0; ; i++ {
		if prefix := fmt.Sprintf("{%d}:", i); masterOf(t, client, prefix).Options().Addr == addr {
			return prefix
		}
	}
}

func TestCheckOfRing(t *testing.T) {
	one, two := redistest.Server(t), redistest.Server(t)
	rights := append(leastRights(t), forRing...)
	redistest.User(t, one, "limiter", rights...)
	user := redistest.User(t, two, "limiter", rights...)
	ring := redis.NewRing(&redis.RingOptions{
		Addrs: map[string]string{"one": one.Addr, "two": two.Addr}, Username: user.Username, Password: user.Password,
	})
	defer func() { _ = ring.Close() }()
	if err := redislimit.New(ring).Check(t.Context()); err != nil {
		t.Error(err)
	}
	everyAlgorithm(t, redislimit.NewPatient(ring))

	redistest.User(t, two, "limiter", slices.DeleteFunc(rights, func(r string) bool { return r == "+get" })...)
	checkError(t, redislimit.New(ring).Check(t.Context()), redislimit.KindForbidden,
		fmt.Sprintf(`redislimit: check "rl:*": %s: the user lacks +get`, two.Addr))
	redistest.User(t, two, "limiter", leastRights(t)...)
	checkError(t, redislimit.New(ring).Check(t.Context()), redislimit.KindForbidden,
		fmt.Sprintf(`redislimit: check "rl:*": %s: the user lacks +ping`, two.Addr))
}

func TestCheckOfRingWithoutShards(t *testing.T) {
	ring := redis.NewRing(&redis.RingOptions{})
	defer func() { _ = ring.Close() }()
	checkError(t, redislimit.New(ring).Check(t.Context()), redislimit.KindConnection,
		`redislimit: check "rl:*": redis: all ring shards are down`)
}

// The rights at the sentinels are others, and another user's.
func TestCheckOfSentinel(t *testing.T) {
	sentinel := redistest.Sentinel(t)
	user := redistest.User(t, sentinel.Master.Options(), "limiter", leastRights(t)...)
	options := sentinel.Options()
	options.Username, options.Password = user.Username, user.Password
	client := redis.NewFailoverClient(options)
	defer func() { _ = client.Close() }()
	if err := redislimit.New(client).Check(t.Context()); err != nil {
		t.Error(err)
	}
	everyAlgorithm(t, redislimit.NewPatient(client))
	redistest.User(t, sentinel.Master.Options(), "limiter", "+@all", "-get", "~*")
	checkError(t, redislimit.New(client).Check(t.Context()), redislimit.KindForbidden,
		`redislimit: check "rl:*": FailoverClient: the user lacks +get`)
}

// Check has no budget but its context's, which holds on a server that accepts connections and keeps silent.
func TestCheckOfSilentServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	addr := listener.Addr().String()
	want := `redislimit: check "rl:*": ` + addr + `: context deadline exceeded`
	single := redis.NewClient(&redis.Options{Addr: addr})
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{addr}})
	for name, client := range map[string]redis.UniversalClient{want: single, `redislimit: check "rl:*": context deadline exceeded`: cluster} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		start := time.Now()
		err := redislimit.New(client, redislimit.Timeout(time.Millisecond)).Check(ctx)
		took := time.Since(start)
		cancel()
		checkError(t, err, redislimit.KindTimeout, name)
		if !errors.Is(err, context.DeadlineExceeded) || took < 50*time.Millisecond || took > 900*time.Millisecond {
			t.Errorf("%T: error %v after %v: want that of the context, after 50ms", client, err, took)
		}
		_ = client.Close()
	}
}
