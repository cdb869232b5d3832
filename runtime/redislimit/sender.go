package redislimit

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// sender sends commands to where their keys live, but not to servers that do not answer. The zero value sends nothing.
type sender struct {
	client   processor
	born     time.Time     // when its clock began, which nobody can set
	timeout  time.Duration // of a method of the Store; 0 or less is none
	far      int           // how many exchanges are under way at a server that is far away
	outages  outages
	unusable error  // why there is no client, if it is not that none was given
	reload   func() // learns anew where keys live; nil if the client does by itself

	// route returns the server that has a key, so that each is watched by itself; nil if there is one. It may have to ask
	// for it until it has once succeeded.
	route   func(ctx context.Context, key string) (server string, err error)
	routed  atomic.Bool
	members func(ctx context.Context) (servers []string, err error) // those that have keys now; nil if there is one
	hashes  *ringHash                                               // where overrides are kept in a Ring; nil if it is none
	only    *server                                                 // the one, or those that are asked where keys live
	servers sync.Map                                                // the others, by address, each a *server
}

// server is one that a sender sends to.
type server struct {
	*breaker
	gatherer
	apart atomic.Bool // whether it is one of a Cluster, though the client does not show it: no script has keys of two calls
}

func newServer(addr string, s *sender) *server { return &server{breaker: newBreaker(addr, s)} }

// processor is what a Store needs of a client.
type processor interface {
	Process(ctx context.Context, cmd redis.Cmder) error
	Pipeline() redis.Pipeliner
}

// cluster and ring are what clients of several servers can do, be they wrapped or not.
type (
	cluster interface {
		processor
		MasterForKey(ctx context.Context, key string) (*redis.Client, error)
		ForEachMaster(ctx context.Context, do func(context.Context, *redis.Client) error) error
		ReloadState(ctx context.Context)
	}
	ring interface {
		processor
		GetShardClientForKey(key string) (*redis.Client, error)
		GetShardClients() []*redis.Client
	}
)

var (
	_ cluster = (*redis.ClusterClient)(nil)
	_ ring    = (*redis.Ring)(nil)
)

// lead has the sender send by a client.
func (s *sender) lead(client processor) {
	s.client = client
	switch client := client.(type) {
	case cluster:
		s.reload = func() { client.ReloadState(context.Background()) } // in the background
		s.route = func(ctx context.Context, key string) (string, error) { return addr(client.MasterForKey(ctx, key)) }
		s.members = func(ctx context.Context) ([]string, error) { return mastersOf(ctx, client) }
	case ring:
		s.hashes = newRingHash(client)
		s.members = s.hashes.members
		s.route = func(_ context.Context, key string) (string, error) { return addr(client.GetShardClientForKey(key)) }
	}
	if most := poolSize(client); most > 0 { // those without a connection would only wait for one
		s.far = min(s.far, max(maxFlights, most))
	}
	s.only = newServer(addrOf(client), s)
}

// poolSize returns how many connections a client has to a server at most, or 0 if it does not tell.
func poolSize(client processor) int {
	switch client := client.(type) {
	case interface{ Options() *redis.Options }:
		return client.Options().PoolSize
	case interface{ Options() *redis.ClusterOptions }:
		return client.Options().PoolSize
	case interface{ Options() *redis.RingOptions }:
		return client.Options().PoolSize
	}
	return 0
}

// addrOf returns what a client leads to, for errors and reports.
func addrOf(client processor) string {
	switch client := client.(type) {
	case interface{ Options() *redis.Options }:
		return client.Options().Addr
	case interface{ Options() *redis.ClusterOptions }:
		return strings.Join(client.Options().Addrs, ",")
	}
	return "redis"
}

func addr(client *redis.Client, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return client.Options().Addr, nil
}

// now is the time by which calls wait, servers are judged and refusals remembered.
func (s *sender) now() time.Duration { return time.Since(s.born) }

// sharded reports whether keys live on several servers.
func (s *sender) sharded() bool { return s.route != nil }

// budget returns a context that ends with the time that a call may take.
func (s *sender) budget(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, s.timeout, noAnswerError(s.timeout))
}

// bounded reports whether a call may fly in its own goroutine, as the client ends its waits with the context. By its
// defaults go-redis does not. With none of its options does it hear that a context is canceled: such a call may find out
// as late as at the end of its budget.
//
// A client that ends a wait closes the connection. So a caller who has less time waits elsewhere: a server that is farther
// away than callers have time is not to be connected to anew for each of them.
func (s *sender) bounded(ctx context.Context) bool {
	client, ok := s.client.(interface{ Options() *redis.Options })
	if !ok || !client.Options().ContextTimeoutEnabled || s.timeout <= 0 {
		return false
	}
	deadline, ok := ctx.Deadline()
	return !ok || time.Until(deadline) >= s.timeout
}

// ready returns an error if there is nothing to send by.
func (s *sender) ready() error {
	if s.client == nil {
		return cmp.Or(s.unusable, errNoClient)
	}
	return nil
}

// send does something at the server that has the key. The sender must be ready.
func (s *sender) send(ctx context.Context, key string, do func(context.Context) (any, error)) (any, error) {
	srv, err := s.serverOf(ctx, key)
	if err != nil {
		return nil, err
	}
	return fly(ctx, srv.breaker, s.timeout, do)
}

// serverOf returns the server that has the key.
func (s *sender) serverOf(ctx context.Context, key string) (*server, error) {
	if s.route == nil {
		return s.only, nil
	}
	if !s.routed.Load() {
		ctx, cancel := s.budget(ctx)
		defer cancel()
		_, err := fly(ctx, s.only.breaker, s.timeout, func(ctx context.Context) (any, error) { return s.route(ctx, key) })
		if err != nil {
			return nil, err
		}
		s.routed.Store(true)
	}
	addr, err := s.route(ctx, key)
	if err != nil {
		return nil, err
	}
	srv, ok := s.servers.Load(addr)
	if !ok {
		srv, _ = s.servers.LoadOrStore(addr, newServer(addr, s))
	}
	return srv.(*server), nil
}
