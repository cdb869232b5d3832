package redislimit_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

const (
	clusterKeys = 300
	// clusterPatience is the budget of calls on a machine that is busy with seven processes.
	clusterPatience = time.Second
	// replicationLag is for how long before its end a master's writes may be lost: its replicas hear of them without its
	// waiting for that. On one machine it is far less.
	replicationLag = time.Second
)

// clusterLimits are those of each key.
var clusterLimits = []ratelimit.Limit{
	{Count: 4, Period: time.Second, Burst: 6},
	{Algorithm: ratelimit.FixedWindow, Count: 3, Period: time.Hour},
}

// nthCharge is what the nth call of the load takes.
func nthCharge(n int) ratelimit.Charge {
	limit := clusterLimits[n%len(clusterLimits)]
	return ratelimit.Charge{Key: fmt.Append(nil, n/len(clusterLimits)%clusterKeys), Name: "limit", Limit: limit, Cost: 1}
}

// clustered is a Cluster and a Store on it, and when its calls were admitted, by bucket.
type clustered struct {
	nodes  *redistest.Nodes
	client *redis.ClusterClient
	store  *redislimit.Store

	mu       sync.Mutex
	admitted map[string][]time.Time
}

// network is how a client reaches hosts, of which one may be gone: what is sent to it is lost.
type network struct{ lost atomic.Value }

// lose loses the host of an address; "" is none.
func (n *network) lose(addr string) { n.lost.Store(addr) }

func (n *network) dial(ctx context.Context, kind, addr string) (net.Conn, error) {
	if addr == n.lost.Load() {
		<-ctx.Done()
		return nil, &net.OpError{Op: "dial", Net: kind, Err: os.ErrDeadlineExceeded}
	}
	var d net.Dialer
	return d.DialContext(ctx, kind, addr)
}

// S02, S04, S05: under load a Cluster forgets scripts, moves slots, and loses a master, whose replica takes over. Only
// calls for keys of that master fail, and only until then. No bucket admits more than its limit, and what the replica had
// not heard of; not even when the old master comes back.
func TestClusterUnderLoad(t *testing.T) {
	if testing.Short() { // as under the race detector, to which the other faults are enough
		return
	}
	patient := func(o *redis.ClusterOptions) {
		o.ReadTimeout = time.Second // for which go-redis waits for a node that it asks where keys live, be it the silent one
	}
	impatient := func(o *redis.ClusterOptions) { // as docs/redis.md says
		o.DialTimeout, o.ReadTimeout, o.DialerRetries = 300*time.Millisecond, 300*time.Millisecond, 1
	}
	tests := []struct {
		name    string
		options func(*redis.ClusterOptions)
		lose    func(*network, *redistest.Instance)
		back    func(*network, *redistest.Instance)
		within  time.Duration // its keys are decided again
	}{
		{
			name: "a master is killed", options: patient, within: 20 * time.Second,
			lose: func(_ *network, master *redistest.Instance) { master.Kill() },
			back: func(*network, *redistest.Instance) {},
		},
		{
			name: "a master is frozen, and comes back as a replica", options: patient, within: 20 * time.Second,
			lose: func(_ *network, master *redistest.Instance) { master.Freeze() },
			back: func(_ *network, master *redistest.Instance) { master.Thaw() },
		},
		{
			name: "the host of a master vanishes, and comes back", options: impatient, within: 6 * time.Second,
			lose: func(n *network, master *redistest.Instance) { n.lose(master.Addr()); master.Freeze() },
			back: func(n *network, master *redistest.Instance) { master.Thaw(); n.lose("") },
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, hosts := &clustered{nodes: redistest.Replicated(t), admitted: map[string][]time.Time{}}, &network{}
			options := c.nodes.Options()
			options.Dialer = hosts.dial
			test.options(options)
			c.client = clusterClient(t, options)
			c.store = redislimit.New(c.client, redislimit.Timeout(clusterPatience), redislimit.OnOutage(nil))
			began := time.Now()
			callers := underLoad(t, func(n int) error { return c.call(t, n) })
			callers.answered(t, began, 2*clusterKeys)
			eachServer(t, c.client, func(ctx context.Context, node *redis.Client) error { return node.ScriptFlush(ctx).Err() })
			c.moveSlots(t, 10)
			callers.answered(t, time.Now(), 10*clusterKeys) // the buckets of an hour are empty by now

			lost := c.nodes.Masters[1]
			keys := c.keysOf(t, lost)
			killed := time.Now()
			test.lose(hosts, lost)
			eventually(t, func() error { return c.decides(t, keys) })
			returned := time.Since(killed)
			if returned > test.within {
				t.Errorf("its keys are decided again after %v: want %v at most", returned, test.within)
			}
			test.back(hosts, lost)
			callers.answered(t, time.Now(), 10*clusterKeys)
			calls := callers.end()

			before, after := split(calls, killed)
			onlyKinds(t, before)
			ofLost, ofOthers := partition(after, func(call called) bool { return keys[keyOf(nthCharge(call.n))] })
			failed := onlyKinds(t, ofLost, redislimit.KindTimeout, redislimit.KindConnection, redislimit.KindOutage, redislimit.KindClusterDown)
			onlyKinds(t, ofOthers)
			t.Logf("%d calls, then %s; its keys are decided again after %v; %d calls for them, errors %v; %d for others, and no error",
				len(before), test.name, returned, len(ofLost), failed, len(ofOthers))
			c.checkAdmitted(t, keys, killed, time.Since(began))
		})
	}
}

func (c *clustered) call(t *testing.T, n int) error {
	charge, results := nthCharge(n), make([]ratelimit.Result, 1)
	err := c.store.Take(t.Context(), []ratelimit.Charge{charge}, results)
	if err == nil && results[0].Allowed {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.admitted[keyOf(charge)] = append(c.admitted[keyOf(charge)], time.Now())
	}
	return err
}

// moveSlots moves slots of some keys from one master to another.
func (c *clustered) moveSlots(t *testing.T, n int) {
	t.Helper()
	from, to := c.nodes.Masters[0], c.nodes.Masters[2]
	for i := 0; n > 0; i++ {
		key := fmt.Sprint(i)
		if masterOf(t, c.client, key).Options().Addr != from.Addr() {
			continue
		}
		n--
		if err := c.nodes.Move(t.Context(), int(c.client.ClusterKeySlot(t.Context(), key).Val()), from, to); err != nil {
			t.Fatal(err)
		}
	}
}

// keysOf returns which keys a master has.
func (c *clustered) keysOf(t *testing.T, master *redistest.Instance) map[string]bool {
	t.Helper()
	keys := map[string]bool{}
	for n := range clusterKeys * len(clusterLimits) {
		if key := keyOf(nthCharge(n)); masterOf(t, c.client, key).Options().Addr == master.Addr() {
			keys[key] = true
		}
	}
	return keys
}

// decides returns an error unless one of the keys is decided.
func (c *clustered) decides(t *testing.T, keys map[string]bool) error {
	n := 0
	for !keys[keyOf(nthCharge(n))] {
		n++
	}
	return c.store.Peek(t.Context(), []ratelimit.Charge{nthCharge(n)}, make([]ratelimit.Result, 1))
}

// checkAdmitted checks that no bucket has admitted more than it may in that time, and, if it was on the lost master, what
// that did not pass on.
func (c *clustered) checkAdmitted(t *testing.T, onLost map[string]bool, killed time.Time, took time.Duration) {
	t.Helper()
	beyond := 0
	for n := range clusterKeys * len(clusterLimits) {
		charge := nthCharge(n)
		key, most := keyOf(charge), int(charge.Limit.Count)
		if charge.Limit.Burst > 0 {
			most = int(charge.Limit.Burst) + int(float64(charge.Limit.Count)*took.Seconds()) + 1
		}
		unheard := 0
		for _, at := range c.admitted[key] {
			if onLost[key] && at.After(killed.Add(-replicationLag)) && at.Before(killed) {
				unheard++
			}
		}
		admitted := len(c.admitted[key])
		if beyond = max(beyond, admitted-most); admitted > most+unheard {
			t.Errorf("%s: %d calls were admitted in %v: want %d, and the %d of which the replica may not have heard", key, admitted, took, most, unheard)
		}
	}
	t.Logf("%d calls were admitted beyond a limit", beyond)
}
