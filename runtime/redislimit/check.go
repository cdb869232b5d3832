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
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// Check finds out, at the start of a program, whether Redis will be able to decide calls. At each server that has keys, which
// are the masters of a Cluster and the shards of a Ring, it calls all methods for limits of every algorithm, under keys that
// nobody else uses. The error joins an [Error] for each server that cannot do its part, and says all that a user lacks who
// may not do everything. A shard that its Ring has given up already is not asked.
//
// It disturbs no traffic and leaves no key behind; if it cannot remove one, that expires after two minutes at most. How long
// it takes is up to ctx only, not to [Timeout]. Give it more time than the client's ReadTimeout, 3 s by default, or it may not
// get to know which server of a Cluster keeps silent.
func (s *Store) Check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	stages, err := s.stages(ctx)
	if err != nil {
		e := s.failed("", err)
		if s.sender.client != nil {
			e.Err = explained(s.sender.client, e)
		}
		return e
	}
	errs := make([]error, len(stages))
	parallel(len(stages), len(stages), func(i int) { errs[i] = stages[i].check(ctx) })
	return errors.Join(errs...)
}

// stages returns those of all servers that have keys.
func (s *Store) stages(ctx context.Context) ([]stage, error) {
	identity := []byte("check:" + rand.Text())
	if err := s.sender.ready(); err != nil {
		return nil, fault(KindMisconfigured, err)
	}
	switch client := s.sender.client.(type) {
	case cluster:
		return s.clusterStages(ctx, client, identity)
	case ring:
		if _, err := client.GetShardClientForKey(""); err != nil {
			return nil, err // there is none left
		}
		var stages []stage
		for _, shard := range client.GetShardClients() {
			stages = append(stages, stage{server: shard.Options().Addr, client: shard, rights: ringRights, store: s.alone(shard), identity: identity})
		}
		slices.SortFunc(stages, byServer)
		return stages, nil
	default:
		one := stage{server: addrOf(client), client: client, rights: rights, store: s.alone(client), identity: identity}
		for i := range scattered {
			one.others = append(one.others, numbered(identity, i))
		}
		return []stage{one}, nil
	}
}

// scattered is how many keys, at random, are to live together where nothing is known of several servers. In a Cluster
// they hardly would.
const scattered = 32

func numbered(identity []byte, i int) []byte {
	return strconv.AppendInt(append(slices.Clip(identity), '-'), int64(i), 10)
}

func byServer(a, b stage) int { return cmp.Compare(a.server, b.server) }

// alone returns a Store like s by one client, which waits for as long as the context says and tells nobody. A client of a
// Cluster sends what is of one server only.
func (s *Store) alone(client processor) *Store {
	one := &Store{prefix: s.prefix, scripts: s.scripts, now: s.now}
	one.sender.client, one.sender.born = client, s.sender.born
	one.sender.only = newServer(addrOf(client), &one.sender)
	return one
}

// numSlots is how many a Cluster has. maxTries finds a key for each with hardly a doubt.
const numSlots, maxTries = 16384, 20 * numSlots

// clusterStages returns the stages of the masters. With a prefix that keeps all keys together, it is one master's.
func (s *Store) clusterStages(ctx context.Context, client cluster, identity []byte) ([]stage, error) {
	masters, err := within(ctx, func() (int, error) { return countMasters(ctx, client) })
	if err != nil {
		return nil, err
	}
	stages := map[string]stage{}
	keyOf := func(i int) string { return s.key(&ratelimit.Charge{Key: numbered(identity, i)}) }
	together := hashTag(keyOf(0)) == hashTag(keyOf(1))
	for i := 0; i < maxTries && len(stages) < masters; i++ {
		node, err := client.MasterForKey(ctx, keyOf(i))
		if err != nil {
			return nil, err
		}
		st := stage{server: node.Options().Addr, client: node, rights: clusterRights, store: s.alone(client), identity: numbered(identity, i)}
		if together {
			return []stage{st}, nil
		}
		if _, ok := stages[st.server]; !ok {
			st.node = node
			stages[st.server] = st
		}
	}
	return slices.SortedFunc(maps.Values(stages), byServer), nil
}

func countMasters(ctx context.Context, client cluster) (int, error) {
	var masters atomic.Int64
	err := client.ForEachMaster(ctx, func(context.Context, *redis.Client) error {
		masters.Add(1)
		return nil
	})
	return int(masters.Load()), err
}

// checkSlots returns an error if there are slots of which the server of a Cluster knows no master.
func (st *stage) checkSlots(ctx context.Context) error {
	ranges, err := within(ctx, func() ([]redis.ClusterSlot, error) {
		return st.node.ClusterSlots(ctx).Result() //nolint:staticcheck // the client asks the same, and so may
	})
	if err != nil {
		return err
	}
	served := 0
	for _, r := range ranges {
		served += r.End - r.Start + 1
	}
	if served < numSlots {
		return fault(KindClusterDown, fmt.Errorf("no master has %d of the %d slots", numSlots-served, numSlots))
	}
	return nil
}

// within returns what the client does or, if the context ends before, its error: by its defaults go-redis does not look.
func within[T any](ctx context.Context, do func() (T, error)) (T, error) {
	var value T
	var err error
	var panicked any
	done := make(chan struct{})
	go func() {
		defer close(done)
		panicked = caught(func() { value, err = do() })
	}()
	select {
	case <-done:
		if panicked != nil {
			panic(panicked)
		}
		return value, err
	case <-ctx.Done():
		var none T
		return none, ended(ctx)
	}
}

// failed returns the Error of a server, or of what leads to all of them.
func (s *Store) failed(server string, err error) *Error {
	e := errorOf(err)
	if server == "" {
		return &Error{Method: "check", Keys: []string{s.prefix + "*"}, Kind: e.Kind, Err: e.Err}
	}
	return &Error{Method: "check", Keys: []string{s.prefix + "*"}, Kind: e.Kind, Err: fmt.Errorf("%s: %w", server, e.Err)}
}

// errorOf returns an Error of what may be that of a context.
func errorOf(err error) *Error {
	switch e, ok := errors.AsType[*Error](err); {
	case ok:
		return e
	case errors.Is(err, context.Canceled):
		return fault(KindCanceled, err)
	}
	return fault(kindOf(err), err)
}
