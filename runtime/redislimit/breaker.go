package redislimit

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
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
	// window is what is looked back at for a server that answers some calls and not others, by buckets, and judgedToOpen how
	// many there must have been in it.
	window, bucket = 10 * time.Second, time.Second
	judgedToOpen   = 20
	// leastPause is how long a server is left alone before it is tried again, and mostPause the most. Processes that lost it
	// at the same time do not come back at the same time.
	leastPause, mostPause = 500 * time.Millisecond, time.Second
	// causeLasts is for how long what a server said last explains its silence. Meanwhile it is asked again, and tells.
	causeLasts = 2 * (mostPause + scoutTime)
)

// breaker takes a server off the path of calls while it does not answer.
type breaker struct {
	server   string
	circuit  *gobreaker.TwoStepCircuitBreaker[any]
	sender   *sender
	doubted  atomic.Int64 // from when on it is in doubt, by now, unless it answers
	scouting atomic.Bool  // whether a flight goes on after its budget, to find out what is wrong
	offPath  atomic.Bool  // whether the server is, or may be tried by one flight at a time

	mu      sync.Mutex // may be locked while the circuit is, not the other way
	failure *Error     // the last one, or one of shortly before that tells more
	failed  time.Duration
	inARow  int           // failures since the server answered
	since   time.Duration // when the first of them began
	spell   time.Duration // when the first began of failures of which none was a window or more after the one before
	latest  time.Duration // when there was a failure last
	back    time.Duration // when the server came back on the path
	untold  bool          // that it is off the path
	left    bool          // whether it was reported to have left meanwhile
}

func newBreaker(server string, s *sender) *breaker {
	b := &breaker{server: server, sender: s}
	b.circuit = gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{
		Interval:      window,
		BucketPeriod:  bucket,
		Timeout:       leastPause + rand.N(mostPause-leastPause), // #nosec G404 -- nobody gains by guessing it
		ReadyToTrip:   b.gone,
		IsExcluded:    func(err error) bool { return errors.Is(err, errNeither) },
		OnStateChange: b.changed,
	})
	return b
}

var (
	// errNeither is the verdict on a flight that tells nothing about the server.
	errNeither = errors.New("neither answered nor failed")
	// errUnwritten is the verdict on a flight that the server has answered, perhaps without having written anything. A server
	// that takes no writes, or may not take up more memory, still refuses and looks.
	errUnwritten = errors.New("answered")
)

// allow lets a flight begin, and returns where its verdict goes.
func (b *breaker) allow() (verdict func(error), err error) {
	verdict, err = b.circuit.Allow()
	if err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		return nil, fault(KindOutage, fmt.Errorf("%s is off the path of calls: %w", b.server, b.failure.Err))
	}
	return verdict, nil
}

// beyondDoubt reports whether the server has answered of late, and nothing else.
func (b *breaker) beyondDoubt() bool { return b.now() < time.Duration(b.doubted.Load()) }

// judge delivers the verdict on a flight that began at that time: nil if it was charged, errUnwritten, errNeither, or its
// Error.
func (b *breaker) judge(began time.Duration, verdict func(error), err error) {
	failure, ok := errors.AsType[*Error](err)
	// It is retries that tell a client of a Cluster to look where keys live now. Without them it looks once a minute.
	if ok && b.sender.reload != nil && (failure.Kind.ofServer() || failure.Kind == KindClusterDown) {
		b.sender.reload()
	}
	switch {
	case errors.Is(err, errNeither):
	case ok && failure.Kind.ofServer():
		b.fail(began, failure)
	case b.answered(err == nil):
		err = nil
	default:
		err = errNeither
	}
	verdict(err)
}

// answered takes note that the server has answered, and reports whether that ends what was wrong with it. One that took no
// writes has to charge somebody, unless nobody has been turned away for so long that there may be nobody to be charged.
func (b *breaker) answered(charged bool) bool {
	lasts := b.sender.timeout
	if lasts <= 0 {
		lasts = defaultTimeout
	}
	b.doubted.Store(int64(b.now() + lasts))
	b.mu.Lock()
	defer b.mu.Unlock()
	readOnly := b.inARow > 0 && (b.failure.Kind == KindMemory || b.failure.Kind == KindReadOnly)
	if readOnly && !charged && b.now()-b.latest < window {
		return false
	}
	b.inARow = 0
	return true
}

// fail takes note of a failure.
func (b *breaker) fail(began time.Duration, failure *Error) {
	b.doubted.Store(0)
	b.mu.Lock()
	defer b.mu.Unlock()
	if began < b.back { // it was sent before the outage
		return
	}
	now := b.now()
	if b.inARow++; b.inARow == 1 {
		b.since = began
	}
	if b.latest <= b.back || now-b.latest >= window {
		b.spell = began
	}
	b.latest = now
	if b.inARow == 1 || !silence(failure) || now-b.failed >= causeLasts {
		b.failure, b.failed = failure, now
	}
}

// learn takes note of why a flight has failed that was judged before, for its silence.
func (b *breaker) learn(began time.Duration, failure *Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if began >= b.back && b.inARow > 0 && failure.Kind.ofServer() && failure.Kind != KindTimeout {
		b.failure, b.failed = failure, b.now()
	}
}

// silence reports whether a failure is that there was no answer, which says least.
func silence(failure *Error) bool {
	_, ok := errors.AsType[noAnswerError](failure.Err)
	return ok
}

// gone reports whether a server that has failed is to be taken off the path.
func (b *breaker) gone(c gobreaker.Counts) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	least := timeoutsToOpen * b.sender.timeout
	if b.inARow >= failuresToOpen && b.latest-b.since >= least {
		return true
	}
	judged := c.TotalSuccesses + c.TotalFailures
	return judged >= judgedToOpen && 2*c.TotalFailures >= judged && b.latest-b.spell >= least
}

func (b *breaker) now() time.Duration { return b.sender.now() }

// changed is called by the circuit, which is locked meanwhile.
func (b *breaker) changed(_ string, from, to gobreaker.State) {
	b.offPath.Store(to != gobreaker.StateClosed)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case from == gobreaker.StateClosed && to == gobreaker.StateOpen:
		b.untold = true
		if silence(b.failure) && b.scouting.Load() {
			time.AfterFunc(scoutTime, b.tell)
			return
		}
		b.tellLocked()
	case to == gobreaker.StateClosed:
		b.tellLocked()
		b.back = b.now()
		if b.left {
			b.left = false
			return
		}
		b.sender.outages.add(Outage{Server: b.server})
	case to == gobreaker.StateOpen && b.left: // it has keys again, as it was tried, but does not answer
		b.left, b.untold = false, true
		b.tellLocked()
	}
}

// tell has it reported that the server is off the path, unless that was.
func (b *breaker) tell() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tellLocked()
}

func (b *breaker) tellLocked() {
	if b.untold {
		b.untold = false
		b.sender.outages.add(Outage{Server: b.server, Down: true, Err: b.failure.Err})
		b.expectLeave()
	}
}
