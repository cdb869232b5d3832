package redislimit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// hash is what overrides are kept in.
type hash interface {
	read(ctx context.Context, key string) (map[string]string, error)
	// write sets a field, or deletes it if there is no text.
	write(ctx context.Context, key, field string, text []byte) error
}

// oneHash lives where the client looks for its key.
type oneHash struct{ client processor }

func (h oneHash) read(ctx context.Context, key string) (map[string]string, error) {
	cmd := redis.NewMapStringStringCmd(ctx, "hgetall", key)
	err := h.client.Process(ctx, cmd)
	return cmd.Val(), err
}

func (h oneHash) write(ctx context.Context, key, field string, text []byte) error {
	if text == nil {
		return h.client.Process(ctx, redis.NewIntCmd(ctx, "hdel", key, field))
	}
	return h.client.Process(ctx, redis.NewIntCmd(ctx, "hset", key, field, text))
}

// ringHash is the hashes under one key on the servers of a Ring. A Ring looks for a key on another server when it takes the one that
// had it for dead, and finds nothing there: as if all overrides had been deleted.
type ringHash struct {
	ring ring

	mu    sync.Mutex
	known []*redis.Client // also those that the Ring takes for dead, of which it does not tell
}

func newRingHash(r ring) *ringHash { return &ringHash{ring: r, known: r.GetShardClients()} }

// all returns those that were ever seen, and not removed since.
func (h *ringHash) all() []*redis.Client {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, shard := range h.ring.GetShardClients() {
		if !slices.Contains(h.known, shard) {
			h.known = append(h.known, shard)
		}
	}
	return slices.Clone(h.known)
}

func (h *ringHash) forget(shard *redis.Client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known = slices.DeleteFunc(h.known, func(known *redis.Client) bool { return known == shard })
}

// read returns the fields of all shards.
func (h *ringHash) read(ctx context.Context, key string) (map[string]string, error) {
	all, err := h.each(ctx, key)
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	var errs []error
	for _, shard := range all {
		for field, text := range shard.fields {
			if other, ok := fields[field]; ok && other != text {
				errs = append(errs, fmt.Errorf("redislimit: %q, field %q: the shards of the Ring say %s and %s: set it anew", key, field, other, text))
			}
			fields[field] = text
		}
	}
	if errs != nil {
		return nil, &ratelimit.OverridesError{Err: errors.Join(errs...)}
	}
	return fields, nil
}

// write leaves no field behind that says something else.
func (h *ringHash) write(ctx context.Context, key, field string, text []byte) error {
	all, err := h.each(ctx, key)
	if err != nil {
		return err
	}
	found := false
	for _, shard := range all {
		if _, ok := shard.fields[field]; !ok {
			continue
		}
		found = true
		if err := (oneHash{shard.client}).write(ctx, key, field, text); err != nil {
			return err
		}
	}
	if found || text == nil {
		return nil
	}
	return oneHash{h.ring}.write(ctx, key, field, text)
}

// said is what a shard says.
type said struct {
	client *redis.Client
	fields map[string]string
}

// each asks all shards, of which each has to answer: one that does not may have what the others lack.
func (h *ringHash) each(ctx context.Context, key string) ([]said, error) {
	clients := h.all()
	all := make([]said, len(clients))
	errs := make([]error, len(clients))
	parallel(len(clients), max(len(clients), 1), func(i int) {
		all[i].client = clients[i]
		all[i].fields, errs[i] = oneHash{clients[i]}.read(ctx, key)
	})
	answered := all[:0]
	for i, err := range errs {
		switch {
		case err == nil:
			answered = append(answered, all[i])
		case errors.Is(err, redis.ErrClosed): // by SetAddrs, or with the Ring
			h.forget(clients[i])
		default:
			return nil, err
		}
	}
	if len(answered) == 0 {
		_, err := h.ring.GetShardClientForKey(key)
		return nil, cmp.Or(err, redis.ErrClosed)
	}
	return answered, nil
}
