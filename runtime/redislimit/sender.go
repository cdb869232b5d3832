package redislimit

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// sender sends commands to where their keys live, but not to servers that do not answer.
type sender struct {
	client  processor
	timeout time.Duration // of a method of the Store; 0 or less is none
	outages outages
	reload  func() // learns anew where keys live; nil if the client does by itself

	// route returns the server that has a key, so that each is watched by itself; nil if there is one. It may have to ask
	// for it until it has once succeeded.
	route    func(ctx context.Context, key string) (server string, err error)
	routed   atomic.Bool
	only     *breaker // of the one server, or of those that are asked where keys live
	breakers sync.Map // by server, each a *breaker
}

// processor is what a Store needs of a client.
type processor interface {
	Process(ctx context.Context, cmd redis.Cmder) error
}

func newSender(client redis.UniversalClient) *sender {
	s := &sender{timeout: defaultTimeout}
	s.outages.report = logOutage
	server := "redis"
	switch client := client.(type) {
	case *redis.Client:
		server = client.Options().Addr
	case *redis.ClusterClient:
		server = strings.Join(client.Options().Addrs, ",")
		s.reload = func() { client.ReloadState(context.Background()) } // in the background
		s.route = func(ctx context.Context, key string) (string, error) { return addr(client.MasterForKey(ctx, key)) }
	case *redis.Ring:
		s.route = func(_ context.Context, key string) (string, error) { return addr(client.GetShardClientForKey(key)) }
	}
	if client != nil {
		s.client = client
	}
	s.only = newBreaker(server, s)
	return s
}

func addr(client *redis.Client, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return client.Options().Addr, nil
}

// sharded reports whether keys live on several servers.
func (s *sender) sharded() bool { return s.route != nil }

// budget returns a context that ends with the time that a call may take.
func (s *sender) budget(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, s.timeout, noAnswerError(s.timeout))
}

// send does something at the server that has the key.
func (s *sender) send(ctx context.Context, key string, do func(context.Context) (any, error)) (any, error) {
	if s.client == nil {
		return nil, errNoClient
	}
	b, err := s.breakerOf(ctx, key)
	if err != nil {
		return nil, err
	}
	return fly(ctx, b, s.timeout, do)
}

func (s *sender) breakerOf(ctx context.Context, key string) (*breaker, error) {
	if s.route == nil {
		return s.only, nil
	}
	if !s.routed.Load() {
		_, err := fly(ctx, s.only, s.timeout, func(ctx context.Context) (any, error) { return s.route(ctx, key) })
		if err != nil {
			return nil, err
		}
		s.routed.Store(true)
	}
	server, err := s.route(ctx, key)
	if err != nil {
		return nil, err
	}
	b, ok := s.breakers.Load(server)
	if !ok {
		b, _ = s.breakers.LoadOrStore(server, newBreaker(server, s))
	}
	return b.(*breaker), nil
}
