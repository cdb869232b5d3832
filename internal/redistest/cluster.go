package redistest

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	masters  = 3
	numSlots = 16384
)

// Cluster starts a Redis Cluster of its own for t, of servers as [Server] starts them, and returns the options of a
// client. They are the test's to change. There are three masters, whose addresses come first, and a replica of the first
// of them, of which clients are told some seconds later. All end with t; when one ends before, the others go on without
// its slots.
//
// It takes two seconds, for which Redis makes new masters wait before they answer: tests had better share one.
func Cluster(t testing.TB) *redis.ClusterOptions {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*startTimeout)
	defer cancel()
	options := &redis.ClusterOptions{}
	var nodes []*node
	for range masters + 1 {
		n := startNode(t)
		defer n.close()
		options.Addrs, nodes = append(options.Addrs, n.addr()), append(nodes, n)
	}
	if err := join(ctx, nodes[:masters], nodes[masters:]); err != nil {
		t.Fatalf("making a cluster: %v", err)
	}
	return options
}

// node is the client of a server that is to belong to a cluster.
type node struct {
	*redis.Client
	instance *Instance
}

// startNode starts a node with further arguments.
func startNode(t testing.TB, further ...string) *node {
	t.Helper()
	instance := launch(t, func() []string {
		return append([]string{
			"--cluster-enabled", "yes", "--cluster-require-full-coverage", "no",
			// Clients are told of a replica when it has been sent something, be it a ping.
			"--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1",
		}, further...)
	})
	return &node{Client: redis.NewClient(instance.Options()), instance: instance}
}

func (n *node) close() { _ = n.Close() }

func (n *node) addr() string { return n.Options().Addr }

// join makes a cluster of nodes that do not know each other. Replicas are those of the first masters, one each.
func join(ctx context.Context, masters, replicas []*node) error {
	all := slices.Concat(masters, replicas)
	for i, n := range masters {
		if err := n.ClusterAddSlotsRange(ctx, numSlots*i/len(masters), numSlots*(i+1)/len(masters)-1).Err(); err != nil {
			return err
		}
		// With the same epoch, two of them would first have to find out which is to have another one.
		if err := n.Do(ctx, "cluster", "set-config-epoch", i+1).Err(); err != nil {
			return err
		}
		for _, other := range slices.Concat(masters[:i], replicas) { // by gossip alone it would take longer
			_, port, err := net.SplitHostPort(other.addr())
			if err != nil {
				return err
			}
			if err := n.Do(ctx, "cluster", "meet", host, port).Err(); err != nil {
				return err
			}
		}
	}
	for i, replica := range replicas {
		id, err := masters[i].ClusterMyID(ctx).Result()
		if err != nil {
			return err
		}
		if err := until(ctx, func() error { return replica.ClusterReplicate(ctx, id).Err() }); err != nil {
			return err
		}
	}
	for _, n := range all {
		if err := until(ctx, func() error { return n.knows(ctx, len(replicas)) }); err != nil {
			return err
		}
	}
	return nil
}

// knows returns an error unless the node takes calls, and knows all slots and the replicas. A replica must have what its
// master has, or it could not take over.
func (n *node) knows(ctx context.Context, replicas int) error {
	info, err := n.ClusterInfo(ctx).Result()
	if err != nil {
		return err
	}
	if !strings.Contains(info, "cluster_state:ok\r\n") || !strings.Contains(info, fmt.Sprintf("cluster_slots_ok:%d\r\n", numSlots)) {
		return fmt.Errorf("%s says %q", n.addr(), info)
	}
	list, err := n.ClusterNodes(ctx).Result()
	if err != nil {
		return err
	}
	if strings.Count(list, "slave") < replicas {
		return fmt.Errorf("%s knows only %q", n.addr(), list)
	}
	role, err := n.Info(ctx, "replication").Result()
	if err == nil && strings.Contains(role, "role:slave\r\n") && !strings.Contains(role, "master_link_status:up\r\n") {
		err = fmt.Errorf("%s says %q", n.addr(), role)
	}
	return err
}

// until repeats something until it succeeds, and returns its last error.
func until(ctx context.Context, do func() error) error {
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for {
		err := do()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-poll.C:
		}
	}
}
