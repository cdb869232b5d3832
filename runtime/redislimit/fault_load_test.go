package redislimit_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// What docs/reliability.md promises about time.
const (
	budget = 100 * time.Millisecond // the default of [redislimit.Timeout]
	margin = 20 * time.Millisecond  // how much longer than its budget a decision takes at the 99th percentile, on an idle machine
	back   = 2 * time.Second        // how soon after its return a server decides again
)

const (
	loadCallers = 64
	loadPause   = 10 * time.Millisecond // of each caller after each call: services do something else, too
	// attemptsAtTime is how often a measurement may be repeated: a busy machine makes anything late.
	attemptsAtTime = 3
)

// intime measures until nothing is late, three times at most. In a short test, which is one under the race detector,
// anything may be late.
func intime(t *testing.T, measure func() error) {
	t.Helper()
	for attempt := 1; ; attempt++ {
		err := measure()
		switch {
		case err == nil || t.Failed() || testing.Short():
			return
		case attempt == attemptsAtTime:
			t.Fatal(err)
		}
		t.Logf("attempt %d: %v", attempt, err)
	}
}

// called is a call and what came of it.
type called struct {
	n    int // which call it was, from 0 on
	at   time.Time
	took time.Duration
	err  error
}

// load is many callers at the same time, that call again and again.
type load struct {
	ending  chan struct{}
	once    sync.Once // closes ending
	callers sync.WaitGroup

	mu    sync.Mutex
	made  int
	calls []called
}

// underLoad starts callers of something. They end with t, if not before.
func underLoad(t *testing.T, call func(n int) error) *load {
	t.Helper()
	l := &load{ending: make(chan struct{})}
	t.Cleanup(func() { l.end() })
	for range loadCallers {
		l.callers.Go(func() {
			pause := time.NewTicker(loadPause)
			defer pause.Stop()
			for {
				l.call(call)
				select {
				case <-pause.C:
				case <-l.ending:
					return
				}
			}
		})
	}
	return l
}

func (l *load) call(call func(n int) error) {
	l.mu.Lock()
	c := called{n: l.made}
	l.made++
	l.mu.Unlock()
	c.at = time.Now()
	c.err = call(c.n)
	c.took = time.Since(c.at)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, c)
}

// end stops the callers and returns what they made.
func (l *load) end() []called {
	l.once.Do(func() { close(l.ending) })
	l.callers.Wait()
	return l.calls
}

// answered waits until n calls that began after some time were answered, and returns how long after it the nth was.
func (l *load) answered(t *testing.T, after time.Time, n int) (passed time.Duration) {
	t.Helper()
	eventually(t, func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		found := 0
		for i := range l.calls {
			if c := &l.calls[i]; c.err == nil && c.at.After(after) {
				if found++; found == n {
					passed = c.at.Add(c.took).Sub(after)
					return nil
				}
			}
		}
		return fmt.Errorf("%d calls were answered: want %d", found, n)
	})
	return passed
}

// failed returns how many calls have failed so far.
func (l *load) failed() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for i := range l.calls {
		if l.calls[i].err != nil {
			n++
		}
	}
	return n
}

// between returns the calls that began in a span of time.
func between(calls []called, from, to time.Time) []called {
	some, _ := partition(calls, func(c called) bool { return !c.at.Before(from) && c.at.Before(to) })
	return some
}

// split returns the calls that were over by some time, and those that began after it.
func split(calls []called, at time.Time) (before, after []called) {
	before, _ = partition(calls, func(c called) bool { return c.at.Add(c.took).Before(at) })
	after, _ = partition(calls, func(c called) bool { return c.at.After(at) })
	return before, after
}

func partition(calls []called, is func(called) bool) (those, others []called) {
	for _, c := range calls {
		if is(c) {
			those = append(those, c)
		} else {
			others = append(others, c)
		}
	}
	return those, others
}

// percentile returns what p of a hundred calls took at most.
func percentile(calls []called, p int) time.Duration {
	if len(calls) == 0 {
		return 0
	}
	took := make([]time.Duration, len(calls))
	for i, c := range calls {
		took[i] = c.took
	}
	slices.Sort(took)
	return took[(len(took)*p+99)/100-1]
}

// asked returns the calls for which a server was asked, and the others, which found it off the path.
func asked(calls []called) (asked, not []called) {
	return partition(calls, func(c called) bool { return kindOf(c.err) != redislimit.KindOutage })
}

// onlyKinds checks that calls were answered, or failed by errors of these kinds, which are no refusals. It returns how
// many there were of each.
func onlyKinds(t *testing.T, calls []called, kinds ...redislimit.Kind) map[redislimit.Kind]int {
	t.Helper()
	counts := map[redislimit.Kind]int{}
	for _, c := range calls {
		if c.err == nil {
			continue
		}
		kind := kindOf(c.err)
		if counts[kind]++; counts[kind] == 1 && !slices.Contains(kinds, kind) {
			t.Errorf("an error of kind %q: %v: want one of %q", kind, c.err, kinds)
		}
		if errors.Is(c.err, ratelimit.ErrLimited) {
			t.Errorf("a failure is told as a refusal: %v", c.err)
		}
	}
	return counts
}

// transitions keeps what a Store tells of outages.
type transitions struct {
	mu    sync.Mutex
	times []time.Time
	down  []bool
}

func (tr *transitions) note(o redislimit.Outage) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.times, tr.down = append(tr.times, time.Now()), append(tr.down, o.Down)
}

// between returns whether the server went down, up, and so on in a span of time.
func (tr *transitions) between(from, to time.Time) []bool {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	first, _ := slices.BinarySearchFunc(tr.times, from, time.Time.Compare)
	last, _ := slices.BinarySearchFunc(tr.times, to, time.Time.Compare)
	return slices.Clone(tr.down[first:last])
}

// told returns whether the server went down, up, and so on.
func (tr *transitions) told() []bool { return tr.between(time.Time{}, time.Now()) }
