package main

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/ratelimitgen/ratelimitgen/internal/bench/limiters"
)

// Rounds went over the same first keys again and again, so that a row of a million had some thousands that were in caches.
func TestRoundsAskForAllKeys(t *testing.T) {
	tests := []struct{ callers, keys, rounds int }{
		{1, 1, 3},
		{1, 100_000, 20},
		{2, 100_000, 1},
		{3, 1000, 7},
		{16, 10_000, 20},
		{64, 1, 2},
		{100, 7, 3}, // more callers than keys
	}
	for _, test := range tests {
		keys := &spy{seen: map[int]int{}}
		l := load{callers: test.callers, keys: test.keys, quota: limiters.Plenty}
		s := l.start(t.Context(), t, keys.newLimiter, nil)
		if len(keys.seen) != test.keys {
			t.Errorf("%+v: %d keys before the first round", test, len(keys.seen))
		}
		clear(keys.seen)
		for round := range test.rounds {
			if _, err := s.run(t.Context(), turn{test.rounds, 10 * time.Microsecond}); err != nil {
				t.Fatalf("%+v: round %d: %v", test, round, err)
			}
			if got := s.touched(); got != len(keys.seen) {
				t.Errorf("%+v: round %d: %d keys are thought to be touched: want %d", test, round, got, len(keys.seen))
			}
		}
		if len(keys.seen) != test.keys {
			t.Errorf("%+v: %d keys were asked for", test, len(keys.seen))
		}
	}
}

// A round that leaves out keys is an error.
func TestRoundMissesKeys(t *testing.T) {
	keys := &spy{seen: map[int]int{}}
	s := load{callers: 1, keys: 1000, quota: limiters.Plenty}.start(t.Context(), t, keys.newLimiter, nil)
	s.at[0] = -1 << 40 // so far before its first place that no round comes to it
	_, err := s.run(t.Context(), turn{1, 0})
	const want = "0 keys were asked for in 1 rounds of 1: want 1000"
	if err == nil || err.Error() != want {
		t.Errorf("%v: want %s", err, want)
	}
}

// spy is a limiter that admits all calls, and knows for which keys they were.
type spy struct {
	mu   sync.Mutex
	seen map[int]int
}

func (s *spy) newLimiter(testing.TB, limiters.Setting) limiters.Limiter {
	return limiters.Ask(func(_ context.Context, key int) (bool, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen[key]++
		return true, nil
	})
}
