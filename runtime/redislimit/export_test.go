package redislimit

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/lua"
)

// NewPatient returns a Store for tests that are not about time: the machine may be busy with others.
func NewPatient(client redis.UniversalClient, opts ...Option) *Store {
	return New(client, append([]Option{Timeout(10 * time.Second)}, opts...)...)
}

// NewWithPrelude returns a patient Store whose scripts begin with a text of the test's.
func NewWithPrelude(client redis.UniversalClient, prelude string, opts ...Option) *Store {
	s := NewPatient(client, opts...)
	s.scripts = scripts{
		take:   newScript(prelude + lua.Take),
		peek:   newScript(prelude + lua.Peek),
		refund: newScript(prelude + lua.Refund),
		renew:  newScript(prelude + lua.Renew),
	}
	return s
}

// ClientTimeOf is [ClientTime] with another clock than the process's.
func ClientTimeOf(now func() time.Time) Option {
	return optionFunc(func(s *Store) { s.now = now })
}

// Client is what a Store needs of a client.
type Client = processor

// NewOn returns a Store on a client of the test's. Where there are several servers, route returns the one of a key.
func NewOn(client Client, route func(ctx context.Context, key string) (string, error), opts ...Option) *Store {
	s := New(nil, opts...)
	s.sender.lead(client)
	s.sender.route = route
	return s
}

// OnReload has the Store call something of the test's to learn anew where keys live.
func (s *Store) OnReload(reload func()) { s.sender.reload = reload }

// OnMembers has the Store call something of the test's to learn which servers have keys.
func (s *Store) OnMembers(members func(ctx context.Context) ([]string, error)) {
	s.sender.members = members
}

// Members returns the servers that have keys.
func (s *Store) Members(ctx context.Context) ([]string, error) { return s.sender.members(ctx) }

// TryAgainMost is how long a script is sent again whose keys are on the move.
const TryAgainMost = tryAgainMost

// SteadySpan is how long a server's clock is watched before refusals are remembered.
const SteadySpan = steadySpan

// Denied returns how many calls the Store remembers that were refused.
func (s *Store) Denied() int {
	n := 0
	for i := range s.denied.sets {
		for j := range s.denied.sets[i].ways {
			if s.denied.sets[i].ways[j].Load() != nil {
				n++
			}
		}
	}
	return n
}

// What bounds the calls that wait for each other.
const (
	MaxFlights = maxFlights
	FarFlights = farFlights
	MaxAsks    = maxAsks
	MaxWaiting = maxWaiting
)

// Near has calls wait for each other however long those before them take, as where a server is near.
func (s *Store) Near() *Store {
	s.sender.far = maxFlights
	return s
}

// Far returns how many exchanges with a server that is far away are under way at most.
func (s *Store) Far() int { return s.sender.far }

// UnderWay returns how many exchanges with the one server are under way.
func (s *Store) UnderWay() int {
	g := &s.sender.only.gatherer
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.flights
}

// Waiting returns how many calls wait for others at the one server.
func (s *Store) Waiting() int {
	g := &s.sender.only.gatherer
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waiting
}

// Watchers returns how many watch the Store's outages.
func Watchers(s *Store) int {
	o := &s.sender.outages
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.watchers)
}
