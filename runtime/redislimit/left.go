package redislimit

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
	"weak"

	"github.com/redis/go-redis/v9"
)

// leftInterval is how often it is asked whether a server that is off the path still has keys. To ask, a client of a Cluster may
// learn anew where keys live.
const leftInterval = 10 * time.Second

// errLeft is why a server is not waited for any more: without calls nobody finds out that it is back, if ever it is.
var errLeft = errors.New("it has no keys any more: others of the Cluster or Ring have them")

// expectLeave has it found out, until the server is back on the path or nobody uses the Store any more, whether it has left.
func (b *breaker) expectLeave() {
	if b.sender.members == nil {
		return
	}
	expecting := weak.Make(b)
	time.AfterFunc(leftInterval, func() {
		if b := expecting.Value(); b != nil {
			b.lookIfLeft()
		}
	})
}

// lookIfLeft reports a server that is off the path and has left the Cluster or Ring, as the former master has after a failover.
func (b *breaker) lookIfLeft() {
	if !b.offPath.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leftInterval)
	defer cancel()
	var members []string
	var err error
	panicked := caught(func() { members, err = b.sender.members(ctx) })
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.offPath.Load():
	case panicked != nil, err != nil, slices.Contains(members, b.server):
		b.expectLeave()
	default:
		b.left = true
		b.sender.outages.add(Outage{Server: b.server, Err: errLeft})
	}
}

// mastersOf returns the addresses of those that have keys.
func mastersOf(ctx context.Context, client cluster) ([]string, error) {
	var mu sync.Mutex
	var addrs []string
	err := client.ForEachMaster(ctx, func(_ context.Context, master *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		addrs = append(addrs, master.Options().Addr)
		return nil
	})
	return addrs, err
}

// members returns the addresses of the shards of a Ring, also of those that it takes for dead, but not of those that were
// removed.
func (h *ringHash) members(ctx context.Context) ([]string, error) {
	var addrs []string
	for _, shard := range h.all() {
		if errors.Is(shard.Process(ctx, redis.NewStatusCmd(ctx, "ping")), redis.ErrClosed) {
			h.forget(shard)
			continue
		}
		addrs = append(addrs, shard.Options().Addr)
	}
	return addrs, nil
}
