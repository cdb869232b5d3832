package redislimit

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// Check finds out, at the start of a program, whether Redis will be able to decide calls. At each server that has keys, which
// are the masters of a Cluster and the shards of a Ring, it calls all methods for limits of every algorithm, under keys that
// nobody else uses. The error joins an [Error] for each server that cannot do its part, and says all that a user lacks who
// may not do everything.
//
// It disturbs no traffic and leaves no key behind; if it cannot remove one, that expires after two minutes at most. How long
// it takes is up to ctx only, not to [Timeout].
func (s *Store) Check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	stages, err := s.stages(ctx)
	errs := []error{err}
	for _, err := range inParallel(stages, func(st stage) error { return st.check(ctx) }) {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// inParallel does something with each, and returns what came of it in their order.
func inParallel[T any](all []T, do func(T) error) []error {
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, one := range all {
		wg.Go(func() { errs[i] = do(one) })
	}
	wg.Wait()
	return errs
}

// stages returns those of all servers that have keys.
func (s *Store) stages(ctx context.Context) ([]stage, error) {
	identity := []byte("check:" + rand.Text())
	switch client := s.sender.client.(type) {
	case nil:
		return nil, s.failed("", errNoClient)
	case *redis.ClusterClient:
		return s.clusterStages(ctx, client, identity)
	case *redis.Ring:
		var stages []stage
		for _, shard := range client.GetShardClients() {
			stages = append(stages, stage{server: shard.Options().Addr, client: shard, store: s.alone(shard), identity: identity})
		}
		slices.SortFunc(stages, byServer)
		return stages, nil
	default:
		one := stage{server: "redis", client: client, store: s.alone(client), identity: identity}
		if client, ok := client.(*redis.Client); ok {
			one.server = client.Options().Addr
		}
		for i := range scattered {
			one.others = append(one.others, numbered(identity, i))
		}
		return []stage{one}, nil
	}
}

// scattered is how many keys, at random, a client of one server looks at: if it is one of a Cluster, another has some.
const scattered = 32

func numbered(identity []byte, i int) []byte {
	return strconv.AppendInt(append(slices.Clip(identity), '-'), int64(i), 10)
}

func byServer(a, b stage) int { return cmp.Compare(a.server, b.server) }

// alone returns a Store like s of one client, which waits for as long as the context says and never gives up.
func (s *Store) alone(client processor) *Store {
	one := &Store{sender: newSender(nil), prefix: s.prefix, scripts: s.scripts, now: s.now}
	one.sender.client, one.sender.timeout = client, 0
	one.sender.outages.report = func(Outage) {}
	return one
}

// numSlots is how many a Cluster has. maxTries finds a key for each with hardly a doubt.
const numSlots, maxTries = 16384, 20 * numSlots

// clusterStages returns the stages of the masters, and an error for slots that nobody has. With a prefix that keeps all
// keys together, one master has them all.
func (s *Store) clusterStages(ctx context.Context, client *redis.ClusterClient, identity []byte) ([]stage, error) {
	masters, err := within(ctx, func() (map[string]*redis.Client, error) { return mastersOf(ctx, client) })
	if err != nil {
		return nil, s.failed("", err)
	}
	stages := map[string]stage{}
	keyOf := func(i int) string { return s.key(&ratelimit.Charge{Key: numbered(identity, i)}) }
	together := hashTag(keyOf(0)) == hashTag(keyOf(1))
	for i := 0; i < maxTries && len(stages) < len(masters); i++ {
		node, err := client.MasterForKey(ctx, keyOf(i))
		if err != nil {
			return nil, s.failed("", err)
		}
		if addr := node.Options().Addr; stages[addr].store == nil {
			stages[addr] = stage{server: addr, client: node, store: s.alone(client), identity: numbered(identity, i)}
		}
		if together {
			break
		}
	}
	if !together {
		err = s.checkSlots(ctx, masters)
	}
	return slices.SortedFunc(maps.Values(stages), byServer), err
}

func mastersOf(ctx context.Context, client *redis.ClusterClient) (map[string]*redis.Client, error) {
	var mu sync.Mutex
	masters := map[string]*redis.Client{}
	err := client.ForEachMaster(ctx, func(_ context.Context, node *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		masters[node.Options().Addr] = node
		return nil
	})
	return masters, err
}

// checkSlots returns an error if a master says that there are slots that nobody has.
func (s *Store) checkSlots(ctx context.Context, masters map[string]*redis.Client) error {
	for _, server := range slices.Sorted(maps.Keys(masters)) {
		ranges, err := within(ctx, masters[server].ClusterSlots(ctx).Result)
		if err != nil {
			continue // its stage finds out
		}
		served := 0
		for _, r := range ranges {
			served += r.End - r.Start + 1
		}
		if served < numSlots {
			return s.failed(server, fault(KindClusterDown, fmt.Errorf("no master has %d of the %d slots", numSlots-served, numSlots)))
		}
		return nil
	}
	return nil
}

// within returns what the client does or, if the context ends before, its error: by its defaults go-redis does not look.
func within[T any](ctx context.Context, do func() (T, error)) (T, error) {
	var value T
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		value, err = do()
	}()
	select {
	case <-done:
		return value, err
	case <-ctx.Done():
		var none T
		return none, ended(ctx)
	}
}

// failed returns the Error of a server, or of what leads to all of them.
func (s *Store) failed(server string, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		e = fault(kindOf(err), err)
	}
	if server == "" {
		return &Error{Method: "check", Keys: []string{s.prefix + "*"}, Kind: e.Kind, Err: e.Err}
	}
	return &Error{Method: "check", Keys: []string{s.prefix + "*"}, Kind: e.Kind, Err: fmt.Errorf("%s: %w", server, e.Err)}
}
