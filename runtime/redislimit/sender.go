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
	return context.WithTimeoutCause(ctx, s.timeout, noAnswer(s.timeout))
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

// tryAgainPause is between two attempts at keys of which some have moved to another server and some are about to. They are
// given up after tryAgainMost.
const tryAgainPause, tryAgainMost = 10 * time.Millisecond, time.Second

// eval runs a script. It sends it again only where the server says that it has not run it.
func (s *sender) eval(ctx context.Context, sc *script, args []any) (any, error) {
	for began := time.Now(); ; {
		reply, err := s.evalOnce(ctx, args)
		switch {
		case isNoScript(err) && args[0] == "evalsha":
			args[0], args[1] = "eval", sc.text // from now on the server knows it
		case redis.IsTryAgainError(err) && time.Since(began) < tryAgainMost:
			if !pause(ctx, tryAgainPause) {
				return nil, err
			}
		default:
			return reply, err
		}
	}
}

// pause reports whether it could sleep for so long and the context still has time left.
func pause(ctx context.Context, d time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= d {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *sender) evalOnce(ctx context.Context, args []any) (any, error) {
	cmd := charging{redis.NewCmd(ctx, args...)}
	cmd.SetFirstKeyPos(fixedArgs)
	if err := s.client.Process(ctx, cmd); err != nil {
		return nil, err
	}
	return cmd.Result()
}

// charging is a command that go-redis sends once. By default it sends a command up to four times when a reply does not
// come, and each time may charge.
type charging struct{ *redis.Cmd }

// NoRetry is go-redis's to call.
func (charging) NoRetry() bool { return true }
