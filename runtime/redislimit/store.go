// Package redislimit keeps buckets in a Redis that many processes share.
//
//	limiter, err := ratelimit.New(redislimit.New(redis.NewClient(&redis.Options{Addr: "localhost:6379"})))
//
// A decision is one script, run by the server at one instant of the server's clock: neither the clients' clocks nor
// the number of processes matter. Redis from 6.2 on and Valkey will do.
package redislimit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// Store is a [ratelimit.Store] that keeps its buckets in Redis. Make one by [New]. It is safe for concurrent use and
// holds nothing that must be closed; the client stays its owner's.
//
// A bucket is one key, <prefix>{<identity>}:<algorithm>:<name>, e.g. rl:{testGet:203.0.113.7}:tb:1s, that expires two
// to three milliseconds after it is as new: a list for a [ratelimit.SlidingLog], a sorted set for [ratelimit.Concurrency],
// otherwise a string of at most 44 bytes. A value under such a key that the scripts cannot read is an error, and is not
// overwritten.
//
// No method takes longer than its context and [Timeout], whatever the timeouts of the client are. What it has asked of the
// server ends in the background, by those: by go-redis's defaults a connection is given up 5 s after a server has fallen
// silent, and until then nobody else has it. With ContextTimeoutEnabled in the client's options it ends with the call, and
// calls that are alone are quicker, as they can wait where they are: such a call hears that its context is canceled when it
// is answered, or has used up its [Timeout]. While
// the server has answered nobody for as long as [Timeout] it ends with that instead, though the caller has less time, and for
// one call at a time a second later, to find out what is wrong. A server that goes on failing is taken off the path of calls until it is back, see
// [OnOutage]. What Redis could not do is an [*Error].
//
// A call is charged at most once: the retries of go-redis, which would charge again, do not apply. When its reply is lost or
// late, or the connection breaks, the error says so, and it is not known whether it was charged, or will be once the
// server gets to it.
//
// Who was refused is refused from this process's memory until its RetryAfter, without asking Redis, see [DenyCache].
//
// Calls of Take that come while others are under way to the same server ask together: one script decides up to 64 of them,
// one after the other, and calls of equal charges are one question, answered in the order in which they came. So the
// server has a command for many calls, which hooks and traces of the client see as that of the one that came first. A call
// goes at once while few are under way, and waits for one exchange to end, or for five milliseconds, while there are many. Its deadline and [Timeout] count from when it came. What befalls an exchange befalls all of its calls, and is one failure of
// the server; a bucket that cannot be read, or that the server forbids, is an error of those who ask for it. A call
// whose caller leaves before its batch departs is not charged. One that a hook of the client makes waits for none, if it hands
// on its context.
//
// In a Cluster or Ring, calls for different Keys of a server go together in one pipeline of scripts. Buckets of different
// Keys live on different servers, unless the [Prefix] has a hash tag. A call for several Keys is then one script a Key, one
// after the other. Take still charges all or none: when a Key refuses or errs, what those before it were charged is
// refunded before Take returns, and the results tell where the limits stand then. In between, other callers find less than
// there is. The refund is tried for two seconds, even if the context has ended or the server is off the path of calls, and
// is sent once at most. That Take does not wait for one that takes longer than the call may, or that it fails, is an error
// too. Three things are not as before after such a refund: a Holder that took again what it held holds nothing, a
// [ratelimit.SlidingLog] that others took of in between has given back its oldest units, and a bucket of a changed limit is
// as after any call by the new one. Peek, Refund and Renew ask for all Keys at the same time, and like Reset go on when one
// fails.
type Store struct {
	sender  sender
	prefix  string
	scripts scripts
	now     func() time.Time // what the scripts go by; nil is the server's clock
	local   *memlimit.Store
	denied  denials
}

var (
	_ ratelimit.Store   = (*Store)(nil)
	_ ratelimit.Renewer = (*Store)(nil)
)

// Option changes a [Store] at its construction.
type Option interface{ apply(*Store) }

type optionFunc func(*Store)

func (f optionFunc) apply(s *Store) { f(s) }

const (
	defaultPrefix  = "rl:"
	defaultTimeout = 100 * time.Millisecond
	maxTimeout     = 24 * time.Hour // sums of it stay exact
)

// Prefix is what all keys of the Store begin with, so that several services can share a server. The default is
// "rl:". Processes share their buckets only if they share the prefix. One that contains a hash tag, {...}, puts all
// buckets into one slot of a Cluster, and so on one server.
func Prefix(prefix string) Option {
	return optionFunc(func(s *Store) { s.prefix = prefix })
}

// Timeout is how long each method of the Store may take in all, whatever the client's own timeouts are. The default is
// 100 ms. With 0 or less, only the caller's context bounds it. It should be at least five round trips to the server, as
// a new connection takes several before it decides anything: too late for too many calls takes the server off their path.
func Timeout(d time.Duration) Option {
	return optionFunc(func(s *Store) { s.sender.timeout = min(d, maxTimeout) })
}

// New returns a Store that keeps its buckets where client leads to: one server, Sentinel, Cluster or Ring. It sends
// nothing yet. A Cluster or Ring is known by its client's methods, so that this may be wrapped, as in
// struct{ *redis.ClusterClient }, but not behind an interface, nor be an AutoPipeliner. Without a client, or with an option
// that is nil, calls return errors of [KindMisconfigured], as those of the zero Store do.
func New(client redis.UniversalClient, opts ...Option) *Store {
	s := &Store{prefix: defaultPrefix, scripts: standard, local: newLocal()}
	s.sender.timeout, s.sender.born = defaultTimeout, time.Now()
	s.sender.far, s.denied.most = farFlights, defaultDenied
	if v := reflect.ValueOf(client); client != nil && (v.Kind() != reflect.Pointer || !v.IsNil()) {
		s.sender.lead(client)
	}
	for i, opt := range opts {
		if opt == nil {
			s.sender.client, s.sender.unusable = nil, fmt.Errorf("%w: option %d is nil", ratelimit.ErrMisconfigured, i+1)
			continue
		}
		opt.apply(s)
	}
	s.denied.open()
	return s
}

// Take implements [ratelimit.Store]. It returns the context's error if that has ended before, the error of
// [ratelimit.CheckDecision] or [ratelimit.CheckHolders], or an [*Error].
func (s *Store) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if err := cmp.Or(ctx.Err(), ratelimit.CheckDecision(charges, results), ratelimit.CheckHolders(charges)); err != nil {
		return err
	}
	came := s.sender.now()
	if s.denied.answer(came, charges, results) {
		return nil
	}
	if groups := s.split(charges); groups != nil {
		ctx, cancel := s.sender.budget(ctx)
		defer cancel()
		err := s.takeGroups(ctx, groups, results)
		if err == nil {
			s.denied.learnOfGroups(came, s.sender.now(), charges, results)
		}
		return err
	}
	answered, err := s.decide(ctx, came, charges, results)
	if err == nil {
		s.denied.learn(came, answered, charges, results)
	}
	return err
}

// Peek implements [ratelimit.Store]. It returns the context's error if that has ended before, the error of
// [ratelimit.CheckDecision], or an [*Error].
func (s *Store) Peek(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if err := cmp.Or(ctx.Err(), ratelimit.CheckDecision(charges, results)); err != nil {
		return err
	}
	ctx, cancel := s.sender.budget(ctx)
	defer cancel()
	if groups := s.split(charges); groups != nil {
		return s.peekGroups(ctx, groups, results)
	}
	return s.look(ctx, charges, results)
}

// decide takes for a call that came at that time, and returns when it was answered, both by the sender's clock.
func (s *Store) decide(ctx context.Context, came time.Duration, charges []ratelimit.Charge, results []ratelimit.Result) (time.Duration, error) {
	if len(charges) == 0 {
		return came, nil
	}
	answered, err := s.gather(ctx, came, charges, results)
	return answered, s.wrap("take", charges, err)
}

// refuse tells how the limits of a call stand that a limit on another server refuses.
func (s *Store) refuse(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	a := s.newAsk(charges)
	a.calls = 0
	err := s.ask(ctx, a)
	if err == nil {
		a.results(0, results)
	}
	return s.wrap("take", charges, err)
}

func (s *Store) look(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if len(charges) == 0 {
		return nil
	}
	reply, err := s.run(ctx, s.scripts.peek, charges)
	if err == nil {
		err = readResults(reply, charges, results)
	}
	return s.wrap("peek", charges, err)
}

// Refund implements [ratelimit.Store]. It returns the context's error if that has ended before, the error of
// [ratelimit.CheckCharges] or [ratelimit.CheckHolders], one that matches [ratelimit.ErrLeaseLost], or an [*Error].
func (s *Store) Refund(ctx context.Context, charges []ratelimit.Charge) error {
	err := cmp.Or(ctx.Err(), ratelimit.CheckCharges(charges), ratelimit.CheckHolders(charges))
	if err != nil || len(charges) == 0 {
		return err
	}
	ctx, cancel := s.sender.budget(ctx)
	defer cancel()
	if groups := s.split(charges); groups != nil {
		return each(groups, func(g *group) error { return s.giveBack(ctx, g.charges) })
	}
	return s.giveBack(ctx, charges)
}

func (s *Store) giveBack(ctx context.Context, charges []ratelimit.Charge) error {
	done := false
	defer func() { s.denied.forget(s.sender.now(), charges, done) }()
	reply, err := s.run(ctx, s.scripts.refund, charges)
	done = isSettled(err)
	if err == nil {
		err = readLost(reply, charges)
	}
	return s.wrap("refund", charges, err)
}

// Renew implements [ratelimit.Renewer]. It returns the context's error if that has ended before, the error of
// [ratelimit.CheckRenewal], or an [*Error].
func (s *Store) Renew(ctx context.Context, charges []ratelimit.Charge, held []bool) error {
	if err := cmp.Or(ctx.Err(), ratelimit.CheckRenewal(charges, held)); err != nil || len(charges) == 0 {
		return err
	}
	ctx, cancel := s.sender.budget(ctx)
	defer cancel()
	if groups := s.split(charges); groups != nil {
		return s.renewGroups(ctx, groups, held)
	}
	return s.renew(ctx, charges, held)
}

func (s *Store) renew(ctx context.Context, charges []ratelimit.Charge, held []bool) error {
	reply, err := s.run(ctx, s.scripts.renew, charges)
	if err == nil {
		err = readHeld(reply, held)
	}
	return s.wrap("renew", charges, err)
}

// Reset implements [ratelimit.Store]. It returns the context's error if that has ended before, the error of
// [ratelimit.CheckCharges], or errors, each an [*Error]. It goes on when one fails. A hundred buckets are one command. In a
// Cluster or Ring those of each Key are one: to reset many thousands at once takes longer than the default [Timeout].
func (s *Store) Reset(ctx context.Context, charges []ratelimit.Charge) error {
	if err := cmp.Or(ctx.Err(), ratelimit.CheckCharges(charges)); err != nil {
		return err
	}
	ctx, cancel := s.sender.budget(ctx)
	defer cancel()
	groups := s.split(charges)
	if groups == nil {
		for part := range slices.Chunk(charges, maxRemoved) {
			groups = append(groups, group{charges: part})
		}
	}
	return each(groups, func(g *group) error { return s.remove(ctx, g.charges) })
}

// maxRemoved is how many buckets a command removes: few enough that it does not hold up those of others.
const maxRemoved = 100

func (s *Store) remove(ctx context.Context, charges []ratelimit.Charge) error {
	args := make([]any, 0, 1+len(charges))
	args = append(args, "del")
	for i := range charges {
		args = append(args, s.key(&charges[i]))
	}
	done := false
	defer func() { s.denied.forget(s.sender.now(), charges, done) }()
	err := s.sender.ready()
	if err == nil {
		_, err = s.sender.send(ctx, s.key(&charges[0]), func(ctx context.Context) (any, error) {
			return nil, s.sender.client.Process(ctx, redis.NewIntCmd(ctx, args...))
		})
	}
	done = isSettled(err)
	return s.wrap("reset", charges, err)
}

var errNoClient = fmt.Errorf("%w: no client", ratelimit.ErrMisconfigured)

// wrap says where an error comes from: what was done to which keys.
func (s *Store) wrap(method string, charges []ratelimit.Charge, err error) error {
	if err == nil {
		return nil
	}
	keys := make([]string, len(charges))
	for i := range charges {
		keys[i] = s.key(&charges[i])
	}
	switch e, ok := errors.AsType[*Error](err); {
	case ok:
		return &Error{Method: method, Keys: keys, Kind: e.Kind, Err: e.Err}
	case errors.Is(err, ratelimit.ErrLeaseLost): // which is an answer
		return fmt.Errorf("redislimit: %s: %w", doing(method, keys), err)
	case errors.Is(err, ratelimit.ErrMisconfigured):
		return &Error{Method: method, Keys: keys, Kind: KindMisconfigured, Err: err}
	}
	return &Error{Method: method, Keys: keys, Kind: kindOf(err), Err: err}
}

// key returns the bucket's key.
func (s *Store) key(c *ratelimit.Charge) string {
	var array [128]byte
	return string(s.appendKey(array[:0], c))
}

func (s *Store) appendKey(key []byte, c *ratelimit.Charge) []byte {
	key = append(key, s.prefix...)
	key = append(key, '{')
	key = append(key, c.Key...)
	key = append(key, "}:"...)
	key = append(key, code(c.Limit.Algorithm)...)
	key = append(key, ':')
	return append(key, c.Name...)
}

// code returns what the scripts and keys call an algorithm.
func code(a ratelimit.Algorithm) string {
	switch a {
	case ratelimit.TokenBucket:
		return "tb"
	case ratelimit.FixedWindow:
		return "fw"
	case ratelimit.SlidingLog:
		return "sl"
	case ratelimit.SlidingWindow:
		return "sw"
	case ratelimit.LeakyBucket:
		return "lb"
	case ratelimit.Concurrency:
		return "cc"
	}
	return a.String() // unknown to the scripts, which then return an error
}
