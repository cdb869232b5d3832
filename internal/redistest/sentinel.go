package redistest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

const (
	sentinels     = 3
	sentinelGroup = "group"
)

// Sentinels are a master, its replica, and three sentinels that watch over them.
type Sentinels struct {
	Master, Replica *Instance
	watchers        []*Instance
}

// Sentinel starts a master and a replica that takes over some two seconds after the master was killed. All end with t.
//
// It takes two seconds, until the sentinels know each other.
func Sentinel(t testing.TB) *Sentinels {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*startTimeout)
	defer cancel()
	s := &Sentinels{Master: launch(t, func() []string { return []string{"--repl-diskless-sync-delay", "0"} })}
	s.Replica = launch(t, func() []string { return []string{"--replicaof", host, s.Master.port} })
	replica := redis.NewClient(s.Replica.Options())
	defer func() { _ = replica.Close() }()
	err := until(ctx, func() error {
		info, err := replica.Info(ctx, "replication").Result()
		if err == nil && !strings.Contains(info, "master_link_status:up\r\n") {
			err = fmt.Errorf("the replica says %q", info)
		}
		return err
	})
	if err != nil {
		t.Fatalf("making a replica: %v", err)
	}
	for range sentinels {
		s.watchers = append(s.watchers, startSentinel(t, s.Master.port))
	}
	for _, w := range s.watchers {
		if err := until(ctx, func() error { return isReady(ctx, w) }); err != nil {
			t.Fatalf("making sentinels: %v", err)
		}
	}
	return s
}

// Options returns the options of a client. They are the test's to change.
func (s *Sentinels) Options() *redis.FailoverOptions {
	options := &redis.FailoverOptions{MasterName: sentinelGroup}
	for _, w := range s.watchers {
		options.SentinelAddrs = append(options.SentinelAddrs, w.Addr())
	}
	return options
}

// startSentinel starts one that watches the master at a port. It writes what it learns into its configuration.
func startSentinel(t testing.TB, port string) *Instance {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sentinel.conf")
	configuration := fmt.Sprintf("sentinel monitor %[1]s %[2]s %[3]s 2\nsentinel down-after-milliseconds %[1]s 500\nsentinel failover-timeout %[1]s 3000\n", sentinelGroup, host, port)
	if err := os.WriteFile(file, []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	return launch(t, func() []string { return []string{"--sentinel"} }, file)
}

// isReady returns an error unless a sentinel knows the others and the replica, and so can lead a failover.
func isReady(ctx context.Context, sentinel *Instance) error {
	client := redis.NewSentinelClient(sentinel.Options())
	defer func() { _ = client.Close() }()
	master, err := client.Master(ctx, sentinelGroup).Result()
	if err == nil && (master["num-other-sentinels"] != fmt.Sprint(sentinels-1) || master["num-slaves"] != "1" || master["flags"] != "master") {
		err = fmt.Errorf("a sentinel knows only %v", master)
	}
	return err
}
