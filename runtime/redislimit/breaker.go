package redislimit

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
)

const (
	// failuresToOpen is how many failures in a row take a server off the path. Fewer would be chance, more would be calls
	// that wait in vain.
	failuresToOpen = 5
	// timeoutsToOpen is how long they must have lasted. A server that stalls for a moment, or was started anew and so has
	// broken all connections, fails many calls at once.
	timeoutsToOpen = 2
	// leastPause is how long a server is left alone before it is tried again, and mostPause the most. Processes that lost it
	// at the same time do not come back at the same time.
	leastPause, mostPause = 500 * time.Millisecond, time.Second
)

// breaker takes a server off the path of calls while it does not answer.
type breaker struct {
	server   string
	circuit  *gobreaker.TwoStepCircuitBreaker[any]
	sender   *sender
	born     time.Time
	answered atomic.Int64          // when the server answered last, by now
	failing  atomic.Int64          // when the first call began of those that have failed since, plus one; 0 if none has
	failure  atomic.Pointer[Error] // the last one
}

func newBreaker(server string, s *sender) *breaker {
	b := &breaker{server: server, sender: s, born: time.Now()}
	b.circuit = gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{
		Timeout:       leastPause + rand.N(mostPause-leastPause), // #nosec G404 -- nobody gains by guessing it
		ReadyToTrip:   func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= failuresToOpen && b.lasts() },
		IsExcluded:    func(err error) bool { return errors.Is(err, errNeither) },
		OnStateChange: b.changed,
	})
	return b
}

// errNeither is the verdict on a flight that tells nothing about the server.
var errNeither = errors.New("neither answered nor failed")

// allow lets a flight begin, and returns where its verdict goes.
func (b *breaker) allow() (verdict func(error), err error) {
	verdict, err = b.circuit.Allow()
	if err != nil {
		return nil, fault(KindOutage, fmt.Errorf("%s is off the path of calls: %w", b.server, b.failure.Load().Err))
	}
	return verdict, nil
}

// judge delivers the verdict on a flight that began at that time: nil if it was answered, errNeither, or its Error.
func (b *breaker) judge(began time.Duration, verdict func(error), err error) {
	failure, ok := errors.AsType[*Error](err)
	switch {
	case ok && failure.Kind.ofServer():
		b.failure.Store(failure)
		b.failing.CompareAndSwap(0, int64(began)+1)
		// It is retries that tell a client of a Cluster to look where keys live now. Without them it looks once a minute.
		if b.sender.reload != nil {
			b.sender.reload()
		}
	case !errors.Is(err, errNeither):
		b.answered.Store(int64(b.now()))
		b.failing.Store(0)
		err = nil
	}
	verdict(err)
	b.sender.outages.tell()
}

// answeredSince reports whether the server has answered since that time, by now.
func (b *breaker) answeredSince(t time.Duration) bool { return time.Duration(b.answered.Load()) > t }

// lasts reports whether the server has failed for long enough to be taken off the path.
func (b *breaker) lasts() bool {
	return b.now()-time.Duration(b.failing.Load()-1) >= timeoutsToOpen*b.sender.timeout
}

func (b *breaker) now() time.Duration { return time.Since(b.born) }

// changed is called by the circuit, which is locked meanwhile.
func (b *breaker) changed(_ string, from, to gobreaker.State) {
	switch {
	case from == gobreaker.StateClosed && to == gobreaker.StateOpen:
		b.sender.outages.add(Outage{Server: b.server, Down: true, Err: b.failure.Load().Err})
	case to == gobreaker.StateClosed:
		b.sender.outages.add(Outage{Server: b.server})
	}
}
