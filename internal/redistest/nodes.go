package redistest

import (
	"context"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
)

// nodeTimeout is for how long a node must be silent for the others to take it for dead. It is as short as a busy machine
// allows: they must not take a live one for dead.
const nodeTimeout = "1000" // milliseconds

// Nodes are the servers of a Cluster, to do harm to.
type Nodes struct {
	Masters  []*Instance
	Replicas []*Instance // the one of each master
	t        testing.TB
}

// Replicated starts a Redis Cluster of three masters with a replica each, which takes over some two seconds after its
// master was killed. All end with t.
func Replicated(t testing.TB) *Nodes {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*startTimeout)
	defer cancel()
	n := &Nodes{t: t}
	var nodes []*node
	for i := range 2 * masters {
		node := startNode(t, "--cluster-node-timeout", nodeTimeout, "--cluster-replica-validity-factor", "0")
		defer node.close()
		nodes = append(nodes, node)
		if i < masters {
			n.Masters = append(n.Masters, node.instance)
		} else {
			n.Replicas = append(n.Replicas, node.instance)
		}
	}
	if err := join(ctx, nodes[:masters], nodes[masters:]); err != nil {
		t.Fatalf("making a cluster: %v", err)
	}
	return n
}

// Options returns the options of a client. They are the test's to change.
func (n *Nodes) Options() *redis.ClusterOptions {
	options := &redis.ClusterOptions{}
	for _, i := range append(n.Masters[:len(n.Masters):len(n.Masters)], n.Replicas...) {
		options.Addrs = append(options.Addrs, i.Addr())
	}
	return options
}

// Move moves a slot with all its keys from one master to another, key by key, while clients go on. All slots are to be moved
// to the same master, or the others would first have to hear of it: until then two of them could each say that the other
// has a slot.
func (n *Nodes) Move(ctx context.Context, slot int, from, to *Instance) error {
	source, target := redis.NewClient(from.Options()), redis.NewClient(to.Options())
	defer func() { _, _ = source.Close(), target.Close() }()
	ids := make([]string, 2)
	for i, node := range []*redis.Client{source, target} {
		var err error
		if ids[i], err = node.ClusterMyID(ctx).Result(); err != nil {
			return err
		}
	}
	if err := target.Do(ctx, "cluster", "setslot", slot, "importing", ids[0]).Err(); err != nil {
		return err
	}
	if err := source.Do(ctx, "cluster", "setslot", slot, "migrating", ids[1]).Err(); err != nil {
		return err
	}
	for {
		keys, err := source.ClusterGetKeysInSlot(ctx, slot, 10).Result()
		if err != nil {
			return err
		}
		if len(keys) == 0 {
			break
		}
		for _, key := range keys {
			err := source.Migrate(ctx, host, to.port, key, 0, startTimeout).Err() // NOKEY, if it expired meanwhile, is no error
			if err != nil {
				return fmt.Errorf("moving %q: %w", key, err)
			}
		}
	}
	for _, i := range append([]*Instance{to, from}, n.Masters...) { // in this order, lest nobody has the slot for a moment
		node := redis.NewClient(i.Options())
		err := node.Do(ctx, "cluster", "setslot", slot, "node", ids[1]).Err()
		_ = node.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
