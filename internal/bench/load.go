package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ratelimitgen/ratelimitgen/internal/bench/limiters"
)

// load is what callers do: each calls again as soon as it has its answer. They take the keys in a scattered order that has
// each key once.
type load struct {
	callers int
	keys    int
	quota   limiters.Quota
	fresh   bool // whether each call makes its key
	timed   bool // whether the time of each call is measured, which costs more than a decision in memory
}

func (l load) newKeys() *limiters.Keys {
	if l.fresh {
		return limiters.FreshKeys(l.keys)
	}
	return limiters.NewKeys(l.keys)
}

// subject is a limiter under load, and how often it was asked.
type subject struct {
	load
	all     *limiters.Keys
	limiter limiters.Limiter
	asked   int64
	at      []int // the place of each caller in the order of the keys, where it goes on
	ran     int   // rounds
}

// start makes a limiter and asks it for each key: twice in memory, where the first time makes tables grow.
func (l load) start(ctx context.Context, t testing.TB, newLimiter limiters.Maker, addrs []string) *subject {
	t.Helper()
	s := &subject{load: l, all: l.newKeys()}
	s.limiter = newLimiter(t, limiters.Setting{Keys: s.all, Quota: l.quota, Redis: addrs})
	times := 1
	if addrs == nil {
		times = 2
	}
	callers := min(l.callers, l.keys)
	for range times {
		s.spread(callers)
		got := s.call(ctx, func(caller, calls int) bool { return calls < part(l.keys, caller, callers) })
		if err := s.check(ctx, got); err != nil {
			t.Fatal(err)
		}
	}
	s.spread(l.callers)
	return s
}

// spread gives callers their places.
func (s *subject) spread(callers int) {
	s.at = make([]int, callers)
	for i := range s.at {
		s.at[i] = i * s.keys / callers
	}
}

// part returns how many of n are those of one of the callers.
func part(n, caller, callers int) int { return (caller+1)*n/callers - caller*n/callers }

// turn is one of a number of rounds.
type turn struct {
	rounds int
	time   time.Duration // of the round, about
}

// run loads the limiter for a while, and for as long as each caller needs to go from its place to that of the next in all
// rounds together: so they have asked for each key.
func (s *subject) run(ctx context.Context, turn turn) (tally, error) {
	var over atomic.Bool
	ends, cancel := context.WithTimeout(ctx, turn.time)
	defer cancel()
	context.AfterFunc(ends, func() { over.Store(true) })
	got := s.call(ctx, func(caller, calls int) bool {
		return calls == 0 || calls*turn.rounds < part(s.keys, caller, s.callers) || !over.Load()
	})
	if got.mallocs > 10_000 {
		runtime.GC() // so that nobody else has to
	}
	s.ran++
	if n, want := s.touched(), s.keys*min(s.ran, turn.rounds)/turn.rounds; n < want {
		return got, fmt.Errorf("%d keys were asked for in %d rounds of %d: want %d", n, s.ran, turn.rounds, want)
	}
	return got, s.check(ctx, got)
}

// touched returns for how many keys the callers have asked from their first places on.
func (s *subject) touched() int {
	n, beyond := 0, 0 // beyond is how far others have come past the place of a caller
	for i := range 2 * s.callers {
		caller := i % s.callers
		own := part(s.keys, caller, s.callers)
		reach := max(beyond, s.at[caller]-caller*s.keys/s.callers)
		if i >= s.callers { // the first time around beyond is not known yet
			n += min(reach, own)
		}
		beyond = max(0, reach-own)
	}
	return n
}

// tally is what came of calls.
type tally struct {
	calls, allowed, refused int64
	took                    time.Duration
	mallocs                 uint64
	latencies               *histogram // nil if they are not measured
	err                     error
}

// call runs callers until they have had enough. Each goes on where it was.
func (s *subject) call(ctx context.Context, more func(caller, calls int) bool) tally {
	tallies := make([]tally, len(s.at))
	ready := make(chan struct{})
	var wg sync.WaitGroup
	for i := range tallies {
		ask, own := s.limiter.Worker(), &tallies[i]
		wg.Go(func() {
			<-ready
			s.caller(ctx, own, ask, s.at[i], func(calls int) bool { return more(i, calls) })
		})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	close(ready)
	wg.Wait()
	all := tally{took: time.Since(start)}
	runtime.ReadMemStats(&after)
	all.mallocs = after.Mallocs - before.Mallocs
	for i := range tallies {
		all.add(&tallies[i])
		s.at[i] += int(tallies[i].calls)
	}
	return all
}

// caller asks for a key after the other, from the at-th of the order on, with a context of its own, as that of a request is.
func (s *subject) caller(ctx context.Context, all *tally, ask limiters.Ask, at int, more func(calls int) bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var t tally // on a stack of its own, away from those of other callers
	if s.timed {
		t.latencies = new(histogram)
	}
	key := s.all.Nth(at)
	for more(int(t.calls)) {
		var before time.Time
		if s.timed {
			before = time.Now()
		}
		allowed, err := ask(ctx, key)
		if s.timed {
			t.latencies.add(time.Since(before))
		}
		t.calls++
		switch {
		case err != nil:
			t.err = err
			*all = t
			return
		case allowed:
			t.allowed++
		default:
			t.refused++
		}
		key = s.all.Next(key)
	}
	*all = t
}

func (t *tally) add(other *tally) {
	t.calls += other.calls
	t.allowed += other.allowed
	t.refused += other.refused
	if other.latencies != nil {
		if t.latencies == nil {
			t.latencies = new(histogram)
		}
		t.latencies.merge(other.latencies)
	}
	t.err = errors.Join(t.err, other.err)
}

// mallocsPerCall returns the allocations of a call, without what the benchmark or the runtime allocates now and then.
func (t *tally) mallocsPerCall() float64 {
	return math.Round(100*float64(t.mallocs)/float64(t.calls)) / 100
}

// check returns an error unless the calls were those that the load is meant to be: each was decided, and those that are to
// be allowed were. Of a single bucket that can tell it knows that each call was charged once.
func (s *subject) check(ctx context.Context, t tally) error {
	s.asked += t.calls
	switch {
	case t.err != nil:
		return t.err
	case t.calls == 0 || t.allowed+t.refused != t.calls:
		return fmt.Errorf("%d calls, of which %d were allowed and %d refused", t.calls, t.allowed, t.refused)
	case s.quota != limiters.Scarce && t.refused > 0:
		return fmt.Errorf("%d of %d calls were refused: want none", t.refused, t.calls)
	case s.quota == limiters.Scarce && t.allowed > int64(s.keys):
		return fmt.Errorf("%d of %d calls were allowed: want one a key", t.allowed, t.calls)
	}
	counter, ok := s.limiter.(limiters.Counter)
	if !ok || s.keys > 1 || s.quota == limiters.Scarce {
		return nil
	}
	used, err := counter.Used(ctx)
	const back = 100 // more than comes back of the quota while a row is measured
	if err == nil && (used > s.asked || used < s.asked-back) {
		err = fmt.Errorf("%d units are taken: want those of %d calls", used, s.asked)
	}
	return err
}
