package ratelimit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// source is an OverrideSource that a test changes between looks.
type source struct {
	mu        sync.Mutex
	overrides *ratelimit.Overrides
	err       error
	loads     int
}

func (s *source) Load(context.Context) (*ratelimit.Overrides, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loads++
	return s.overrides, s.err
}

func (s *source) say(o *ratelimit.Overrides, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.overrides, s.err = o, err
}

func (s *source) looks() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loads
}

func countOf(n int64) *ratelimit.Overrides { return overrides(getID, ratelimit.Override{Count: n}) }

// look waits until the sources were looked at again.
func look() {
	time.Sleep(500 * time.Millisecond)
	synctest.Wait()
}

func watching(t *testing.T, l *ratelimit.Limiter, s ratelimit.OverrideSource) {
	t.Helper()
	if err := l.Watch(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

// holding expects the count of the limit getID.
func holding(t *testing.T, l *ratelimit.Limiter, want int64) {
	t.Helper()
	for _, info := range l.Limits() {
		if got := info.Holds.Limit.Count; info.ID == getID && got != want {
			t.Errorf("a count of %d holds, want %d", got, want)
		}
	}
}

func TestSourceIsWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told overrideEvents
		limiter := newLimiter(t, memlimit.New(), ratelimit.Observe(&told))
		limiter.Guard("m.Get", getRule)
		s := &source{overrides: countOf(3)}
		watching(t, limiter, s)
		holding(t, limiter, 3)
		told.expect(t, "taken")

		s.say(countOf(3), nil) // others that are equal
		look()
		told.expect(t)
		s.say(countOf(4), nil)
		look()
		holding(t, limiter, 4)
		told.expect(t, "taken")

		s.say(countOf(4), errors.New("no answer"))
		look()
		look()
		holding(t, limiter, 4)
		told.expect(t, "no answer") // once
		s.say(countOf(4), nil)
		look()
		told.expect(t, "taken") // or nobody knew that it is back

		s.say(nil, nil)
		look()
		told.expect(t, "ratelimit: a source of overrides returned nothing: want Overrides")
		s.say(overrides(getID, ratelimit.Override{Count: -1}), nil)
		look()
		holding(t, limiter, 4)
		told.expect(t, "ratelimit: override of m.Get#1s: count is -1: want 1 to 1000000000")
	})
}

// A connection that breaks has another text each time, by its port: that is no warning at each look, nor is one that comes and
// goes. What is wrong with overrides is told at once.
func TestSourceThatFailsInEverOtherWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logged
		limiter := log.limiter(t, memlimit.New())
		limiter.Guard("m.Get", getRule)
		s := &source{overrides: countOf(3)}
		watching(t, limiter, s)
		log.check(t, `level=INFO msg="rate limit: overrides taken"`)
		port := 40_000
		fail := func() {
			port++
			s.say(nil, fmt.Errorf("read tcp 10.0.0.1:%d->10.0.0.2:6379: connection reset by peer", port))
			look()
		}
		line := func(port int) string {
			return fmt.Sprintf(`level=WARN msg="rate limit: overrides not read" error="read tcp 10.0.0.1:%d->10.0.0.2:6379: connection reset by peer"`, port)
		}
		for range 300 { // two and a half minutes
			fail()
		}
		log.check(t, line(40_001), line(40_121), line(40_241))
		s.say(overrides(getID, ratelimit.Override{Count: -1}), nil)
		look()
		log.check(t, `level=WARN msg="rate limit: overrides refused" error="ratelimit: override of m.Get#1s: count is -1: want 1 to 1000000000"`)
		s.say(countOf(3), nil)
		look()
		log.check(t, `level=INFO msg="rate limit: overrides taken"`)
		for range 120 { // another two, every second
			fail()
			s.say(countOf(3), nil)
			look()
		}
		taken := `level=INFO msg="rate limit: overrides taken"`
		log.check(t, line(40_330), taken, line(40_390), taken)
	})
}

// A server that has lost its data, or a file that was emptied, is told otherwise than a change.
func TestOverridesThatAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logged
		limiter := log.limiter(t, memlimit.New())
		limiter.Guard("m.Get", getRule)
		s := &source{overrides: &ratelimit.Overrides{}}
		watching(t, limiter, s)
		taken, gone := `level=INFO msg="rate limit: overrides taken"`, `level=WARN msg="rate limit: overrides are gone"`
		log.check(t, taken)
		for _, said := range []*ratelimit.Overrides{countOf(3), {Mode: new(ratelimit.ModeEnforce)}} {
			s.say(said, nil)
			look()
			log.check(t, taken)
			s.say(&ratelimit.Overrides{Limits: map[string]*ratelimit.Override{}}, nil)
			look()
			log.check(t, gone)
		}
		holding(t, limiter, 2)
	})
}

func TestLaterSourcesGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := newLimiter(t, memlimit.New())
		limiter.Guard("m.Get", getRule)
		file, hash := &source{overrides: countOf(3)}, &source{overrides: &ratelimit.Overrides{}}
		watching(t, limiter, file)
		watching(t, limiter, hash)
		holding(t, limiter, 3)
		hash.say(countOf(4), nil)
		look()
		holding(t, limiter, 4)
		file.say(countOf(5), nil)
		look()
		holding(t, limiter, 4)
		override(t, limiter, countOf(6))
		holding(t, limiter, 6)
		hash.say(overrides(getID, ratelimit.Override{}), nil) // what the directive says
		override(t, limiter, nil)
		look()
		holding(t, limiter, 2)
		hash.say(&ratelimit.Overrides{}, nil)
		look()
		holding(t, limiter, 5)
	})
}

func TestModeOfTheWholeLimiter(t *testing.T) {
	limiter := newLimiter(t, memlimit.New(), ratelimit.WithMode(ratelimit.ModeShadow))
	guard, ctx := limiter.Guard("m.Get", getRule), t.Context()
	all := func(m ratelimit.Mode) { override(t, limiter, &ratelimit.Overrides{Mode: &m}) }
	expect(t, "as the Limiter was made", passed(t, ctx, guard, 5), 5)
	all(ratelimit.ModeEnforce)
	expect(t, "enforce", passed(t, ctx, guard, 5), 0) // shadow has counted
	all(ratelimit.ModeOff)
	expect(t, "off", passed(t, ctx, guard, 5), 5)
	if result, err := limiter.Allow(ctx, "get", ratelimit.Limit{Count: 1, Period: time.Hour}); err != nil || !result.Allowed || result.Limit != 0 {
		t.Errorf("without a guard, off: %+v, %v", result, err)
	}

	// The more lenient one of both holds.
	shadow := ratelimit.ModeShadow
	override(t, limiter, &ratelimit.Overrides{Mode: &shadow, Limits: map[string]*ratelimit.Override{getID: {Mode: new(ratelimit.ModeEnforce)}}})
	expect(t, "shadow, and the limit enforce", passed(t, ctx, guard, 5), 5)
	enforce := ratelimit.ModeEnforce
	override(t, limiter, &ratelimit.Overrides{Mode: &enforce, Limits: map[string]*ratelimit.Override{getID: {Mode: new(ratelimit.ModeShadow)}}})
	expect(t, "enforce, and the limit shadow", passed(t, ctx, guard, 5), 5)
}

func TestWatchEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := newLimiter(t, memlimit.New())
		limiter.Guard("m.Get", getRule)
		s := &source{overrides: countOf(3)}
		ctx, cancel := context.WithCancel(t.Context())
		if err := limiter.Watch(ctx, s); err != nil {
			t.Fatal(err)
		}
		cancel()
		synctest.Wait()
		loads := s.looks()
		s.say(countOf(4), nil)
		look()
		if s.looks() != loads {
			t.Error("the source is looked at after the context has ended")
		}
		holding(t, limiter, 3)
		if err := limiter.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// endless is a source that answers when its context ends.
type endless struct{ source }

func (e *endless) Load(ctx context.Context) (*ratelimit.Overrides, error) {
	if e.looks() == 0 {
		return e.source.Load(ctx)
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestCloseEndsALook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told overrideEvents
		limiter := newLimiter(t, memlimit.New(), ratelimit.Observe(&told))
		watching(t, limiter, &endless{source{overrides: countOf(3)}})
		look()
		if err := limiter.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		told.expect(t, "taken") // that it was ended is no trouble
	})
}

// stubborn is a source that does not answer at all.
type stubborn struct {
	source
	over chan struct{}
}

func (s *stubborn) Load(ctx context.Context) (*ratelimit.Overrides, error) {
	if s.looks() > 0 {
		<-s.over
	}
	return s.source.Load(ctx)
}

func TestCloseDoesNotWaitForASource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := newLimiter(t, memlimit.New())
		s := &stubborn{source{overrides: countOf(3)}, make(chan struct{})}
		watching(t, limiter, s)
		look()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		const want = "ratelimit: a source of overrides is still looked at: context deadline exceeded"
		began := time.Now()
		if err := limiter.Close(ctx); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if took := time.Since(began); took != time.Minute+10*time.Millisecond {
			t.Errorf("took %v, want what its context has, and 10ms", took)
		}
		close(s.over)
		if err := limiter.Close(ctx); err != nil {
			t.Errorf("when the source has answered: %v", err)
		}
	})
}

type panicking struct{}

func (panicking) Load(context.Context) (*ratelimit.Overrides, error) { panic("at the disco") }

func TestSourceThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told overrideEvents
		limiter := newLimiter(t, memlimit.New(), ratelimit.Observe(&told))
		const want = "ratelimit: a source of overrides panicked: at the disco"
		if err := limiter.Watch(t.Context(), panicking{}); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		look()
		look()
		told.expect(t, want)
	})
}

func TestLocalOverridesHoldAtOnce(t *testing.T) {
	var told overrideEvents
	limiter := newLimiter(t, memlimit.New(), ratelimit.Observe(&told))
	window := getRule
	window.Limit.Algorithm = ratelimit.FixedWindow
	guard, ctx := limiter.Guard("m.Get", window), t.Context()
	store := ratelimit.NewOverrides()
	watching(t, limiter, store)
	told.expect(t, "taken")
	if err := store.Set(ctx, getID, &ratelimit.Override{Count: 3}); err != nil {
		t.Fatal(err)
	}
	expect(t, "a count that is set", passed(t, ctx, guard, 9), 3)
	if err := store.SetMode(ctx, new(ratelimit.ModeOff)); err != nil {
		t.Fatal(err)
	}
	expect(t, "off", passed(t, ctx, guard, 9), 9)
	told.expect(t, "taken", "taken")

	// What the Limiter cannot keep changes nothing.
	wantError(t, store.Set(ctx, getID, &ratelimit.Override{Burst: 5}), "m.Get#1s: burst is 5: fixed-window has no burst")
	if o, err := store.Load(ctx); err != nil || o.Limits[getID].Count != 3 || *o.Mode != ratelimit.ModeOff {
		t.Errorf("the store says %+v, %v", o, err)
	}
	told.expect(t)

	if err := store.SetMode(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if err := store.Set(ctx, getID, nil); err != nil {
		t.Fatal(err)
	}
	expect(t, "what the directive says, of a window that has had three", passed(t, ctx, guard, 9), 0)
	if err := limiter.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := store.Set(ctx, getID, &ratelimit.Override{Count: 9}); err != nil {
		t.Fatal(err)
	}
}

// A Limiter that refused what is set goes on to refuse it, whatever else is set, until it is mended.
func TestLocalOverridesThatWereRefusedAreTakenWithOthers(t *testing.T) {
	var told overrideEvents
	limiter, store, ctx := newLimiter(t, memlimit.New(), ratelimit.Observe(&told)), ratelimit.NewOverrides(), t.Context()
	limiter.Guard("m.Put", sharedRule)
	get := limiter.Guard("m.Get", getRule)
	if err := store.Set(ctx, putID, &ratelimit.Override{Burst: 5}); err != nil {
		t.Fatal(err)
	}
	const want = putID + ": burst is 5: fixed-window has no burst"
	wantError(t, limiter.Watch(ctx, store), want)
	told.expect(t, "ratelimit: override of "+want)
	wantError(t, store.Set(ctx, getID, &ratelimit.Override{Count: 7}), want)
	told.expect(t)
	expect(t, "the directive", passed(t, ctx, get, 9), 2)
	if err := errors.Join(store.Set(ctx, putID, nil), store.Set(ctx, getID, &ratelimit.Override{Count: 7})); err != nil {
		t.Fatal(err)
	}
	told.expect(t, "taken", "taken")
	expect(t, "once it is mended", passed(t, ctx, get, 9), 5)
}

// A program may try a source again and again.
func TestWatchesThatTookNothingAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter, store := newLimiter(t, memlimit.New(), ratelimit.Observe()), ratelimit.NewOverrides()
		limiter.Guard("m.Put", sharedRule)
		if err := store.Set(t.Context(), putID, &ratelimit.Override{Burst: 5}); err != nil {
			t.Fatal(err)
		}
		for name, source := range map[string]ratelimit.OverrideSource{"in memory": store, "elsewhere": struct{ ratelimit.OverrideSource }{store}} {
			for range 3 {
				ctx, stop := context.WithCancel(t.Context())
				if err := limiter.Watch(ctx, source); err == nil {
					t.Fatalf("%s: a source with a mistake is taken", name)
				}
				stop()
			}
			synctest.Wait()
			if n := limiter.Watches(); n != 0 {
				t.Errorf("%s: %d watches are kept that have ended and took nothing, want none", name, n)
			}
		}
	})
}

func TestLocalOverridesKeepNothingOfTheirCallers(t *testing.T) {
	store, ctx := ratelimit.NewOverrides(), t.Context()
	mode, own := ratelimit.ModeShadow, ratelimit.ModeShadow
	o := ratelimit.Override{Mode: &own, Callers: []ratelimit.CallerOverride{{By: map[string]string{"user": "ann"}, Mode: &own}}}
	if err := errors.Join(store.SetMode(ctx, &mode), store.Set(ctx, getID, &o)); err != nil {
		t.Fatal(err)
	}
	mode, own, o.Callers[0].By["user"] = ratelimit.ModeOff, ratelimit.ModeOff, "bob"
	got, _ := store.Load(ctx)
	text, err := json.Marshal(got)
	if want := `{"mode":"shadow","limits":{"m.Get#1s":{"mode":"shadow","callers":[{"by":{"user":"ann"},"mode":"shadow"}]}}}`; err != nil || string(text) != want {
		t.Errorf("got %s, %v, want %s", text, err, want)
	}
}
