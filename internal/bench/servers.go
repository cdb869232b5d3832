package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// servers are the Redis servers of an entry, as seen by an onlooker.
type servers []*redis.Client

func watch(t testing.TB, addrs []string) servers {
	var all servers
	for _, addr := range addrs {
		client := redis.NewClient(&redis.Options{Addr: addr})
		t.Cleanup(func() { _ = client.Close() })
		all = append(all, client)
	}
	return all
}

// usage is what servers have done since they were started.
type usage struct {
	cpu     float64 // seconds
	scripts int64
}

func (s servers) usage(ctx context.Context) (usage, error) {
	var all usage
	for _, server := range s {
		info, err := server.Info(ctx, "cpu", "commandstats").Result()
		if err != nil {
			return usage{}, err
		}
		for line := range strings.Lines(info) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
			switch name {
			case "used_cpu_user", "used_cpu_sys":
				seconds, err := strconv.ParseFloat(value, 64)
				if err != nil {
					return usage{}, fmt.Errorf("INFO says %q", line)
				}
				all.cpu += seconds
			case "cmdstat_eval", "cmdstat_evalsha":
				var calls int64
				if _, err := fmt.Sscanf(value, "calls=%d", &calls); err != nil {
					return usage{}, fmt.Errorf("INFO says %q", line)
				}
				all.scripts += calls
			}
		}
	}
	return all, nil
}

func (s servers) keys(ctx context.Context) (int64, error) {
	var all int64
	for _, server := range s {
		n, err := server.DBSize(ctx).Result()
		if err != nil {
			return 0, err
		}
		all += n
	}
	return all, nil
}

// stillHas returns an error unless there are as many keys as there were after each was asked for once.
func (s servers) stillHas(ctx context.Context, want int64) error {
	n, err := s.keys(ctx)
	if err == nil && n != want {
		err = fmt.Errorf("the servers hold %d keys: want %d", n, want)
	}
	return err
}

// onlyKey returns what the only key of a server takes up.
func (s servers) onlyKey(ctx context.Context) (bytes float64, err error) {
	keys, err := s[0].Keys(ctx, "*").Result()
	if err != nil {
		return 0, err
	}
	if len(keys) != 1 {
		return 0, fmt.Errorf("the server holds the keys %q: want one", keys)
	}
	n, err := s[0].MemoryUsage(ctx, keys[0], 0).Result()
	return float64(n), err
}
