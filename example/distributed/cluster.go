package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	loopback     = "127.0.0.1"
	primaries    = 3
	attempts     = 3                // another process may take a free port between its choice and its use
	startTimeout = 30 * time.Second // for all of the cluster, which takes two seconds; a busy machine may take its time
)

// cluster is a Redis Cluster of [primaries] with a replica each, on free loopback ports.
type cluster struct {
	dir     string
	servers []*redisServer // primaries first
}

// redisServer is a server, and a client of it.
type redisServer struct {
	*process
	*redis.Client
	addr, bus string // bus is where the other servers of the cluster reach it
}

// startCluster starts a cluster whose servers call one dead that has not answered for nodeTimeout. The caller must stop
// it.
func startCluster(ctx context.Context, nodeTimeout time.Duration) (c *cluster, err error) {
	for _, command := range []string{"redis-server", "redis-cli"} {
		if _, err := exec.LookPath(command); err != nil {
			return nil, fmt.Errorf("%w: install Redis 7.0 or later (Debian, Ubuntu: apt-get install redis-server; macOS: brew install redis)", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	dir, err := os.MkdirTemp("", "distributed-")
	if err != nil {
		return nil, err
	}
	c = &cluster{dir: dir}
	defer func() {
		if err != nil {
			c.stop()
		}
	}()
	for i := range 2 * primaries {
		if err := c.startServer(ctx, filepath.Join(dir, strconv.Itoa(i)), nodeTimeout); err != nil {
			return nil, err
		}
	}
	if err := c.join(ctx); err != nil {
		return nil, fmt.Errorf("making a cluster: %w", err)
	}
	return c, nil
}

// startServer adds a server that works in a folder of its own.
func (c *cluster) startServer(ctx context.Context, dir string, nodeTimeout time.Duration) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	var log bytes.Buffer
	for range attempts {
		port, bus, err := freePorts(ctx)
		if err != nil {
			return err
		}
		// Not bound to ctx, whose end must not end the servers before the services.
		cmd := exec.CommandContext(context.WithoutCancel(ctx), "redis-server",
			"--bind", loopback, "--port", port, "--dir", dir, "--save", "",
			"--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-node-timeout", strconv.FormatInt(nodeTimeout.Milliseconds(), 10),
			"--cluster-require-full-coverage", "no", // the slots of one primary are no concern of the others
			"--repl-diskless-sync-delay", "0", // a replica need not wait for a second one
		)
		log.Reset()
		cmd.Stdout, cmd.Stderr = &log, &log
		p, err := start(cmd)
		if err != nil {
			return err
		}
		addr := net.JoinHostPort(loopback, port)
		s := &redisServer{process: p, Client: redis.NewClient(&redis.Options{Addr: addr}), addr: addr, bus: bus}
		if s.up(ctx) {
			c.servers = append(c.servers, s)
			return nil
		}
		s.stop()
	}
	return fmt.Errorf("redis-server does not start:\n%s", &log)
}

// freePorts returns two ports that were free a moment ago.
func freePorts(ctx context.Context) (one, other string, err error) {
	var ports [2]string
	for i := range ports {
		var listen net.ListenConfig
		l, err := listen.Listen(ctx, "tcp", net.JoinHostPort(loopback, "0"))
		if err != nil {
			return "", "", err
		}
		defer func() { _ = l.Close() }() // not before both are chosen
		if _, ports[i], err = net.SplitHostPort(l.Addr().String()); err != nil {
			return "", "", err
		}
	}
	return ports[0], ports[1], nil
}

// up waits until the server answers, and returns false if it has ended. It may be another one, which took the port, that
// answers.
func (s *redisServer) up(ctx context.Context) bool {
	err := until(ctx, func() (bool, error) {
		select {
		case <-s.ended:
			return false, errors.New("it has ended")
		default:
			info := s.Info(ctx, "server").Val()
			return strings.Contains(info, fmt.Sprintf("\r\nprocess_id:%d\r\n", s.pid())), nil
		}
	})
	return err == nil
}

// join makes a cluster of the servers, which do not know each other, and waits until every replica keeps what its primary
// does.
func (c *cluster) join(ctx context.Context) error {
	args := []string{"--cluster", "create"}
	for _, s := range c.servers {
		args = append(args, s.addr+"@"+s.bus)
	}
	args = append(args, "--cluster-replicas", "1", "--cluster-yes")
	if out, err := exec.CommandContext(ctx, "redis-cli", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("redis-cli %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return until(ctx, func() (bool, error) {
		for i, s := range c.servers {
			if !strings.Contains(s.ClusterInfo(ctx).Val(), "cluster_state:ok") {
				return false, nil
			}
			if i < primaries && !strings.Contains(s.Info(ctx, "replication").Val(), "state=online") {
				return false, nil
			}
		}
		return true, nil
	})
}

// until waits until done.
func until(ctx context.Context, done func() (bool, error)) error {
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-poll.C:
		}
	}
}

// addrs returns the addresses of the primaries, by which a client finds the rest.
func (c *cluster) addrs() []string {
	var addrs []string
	for _, s := range c.servers[:primaries] {
		addrs = append(addrs, s.addr)
	}
	return addrs
}

// primaryOf returns which server keeps a key, in the view of the last one, which is a replica at first.
func (c *cluster) primaryOf(ctx context.Context, key string) (*redisServer, error) {
	asked := c.servers[len(c.servers)-1]
	slot, err := asked.ClusterKeySlot(ctx, key).Result()
	if err != nil {
		return nil, err
	}
	shards, err := asked.ClusterShards(ctx).Result()
	if err != nil {
		return nil, err
	}
	for _, shard := range shards {
		if !slices.ContainsFunc(shard.Slots, func(r redis.SlotRange) bool { return r.Start <= slot && slot <= r.End }) {
			continue
		}
		for _, node := range shard.Nodes {
			addr := net.JoinHostPort(loopback, strconv.FormatInt(node.Port, 10))
			i := slices.IndexFunc(c.servers, func(s *redisServer) bool { return s.addr == addr })
			if i >= 0 && node.Role == "master" && node.Health == "online" {
				return c.servers[i], nil
			}
		}
	}
	return nil, fmt.Errorf("no server keeps %s", key)
}

// heir waits until another server than the one that was its primary keeps a key, and returns it.
func (c *cluster) heir(ctx context.Context, key string, was *redisServer) (heir *redisServer, err error) {
	err = until(ctx, func() (bool, error) {
		var err error
		heir, err = c.primaryOf(ctx, key)
		return err == nil && heir != was, nil // nobody may keep it for a while
	})
	return heir, err
}

// stop ends all servers and removes what they wrote.
func (c *cluster) stop() {
	for _, s := range c.servers {
		s.stop()
	}
	_ = os.RemoveAll(c.dir) // what is left is in the folder for temporary files
}

func (s *redisServer) stop() {
	_ = s.Close()
	s.kill() // it has nothing to save
}
