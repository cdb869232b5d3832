package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// events keeps what it is told as lines.
type events struct {
	mu    sync.Mutex
	lines []string
}

func (o *events) Observe(_ context.Context, e *ratelimit.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines = append(o.lines, lineOf(e))
}

// lineOf is an event in words: kind, method, outcomes with their keys, and whatever else is set.
func lineOf(e *ratelimit.Event) string {
	line := []string{e.Kind.String(), e.Method}
	for i, o := range e.Outcomes {
		answer := "refused"
		if o.Result.Allowed {
			answer = "allowed"
		}
		line = append(line, fmt.Sprintf("%s[%s]:%s:%d", o.Name, e.Key(i), answer, o.Result.Remaining))
		if o.Shadow != (e.Kind == ratelimit.EventShadow) {
			line = append(line, "and not a shadow's")
		}
	}
	if e.Local {
		line = append(line, "local")
	}
	if e.Failure != "" {
		line = append(line, string(e.Failure))
	}
	if e.Server != "" {
		line = append(line, e.Server)
	}
	if e.Away {
		line = append(line, "away")
	}
	if e.Err != nil {
		line = append(line, e.Err.Error())
	}
	return strings.Join(line, " ")
}

// check compares what was told since the last time.
func (o *events) check(t *testing.T, want ...string) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Equal(o.lines, want) {
		t.Errorf("told\n\t%s\nwant\n\t%s", strings.Join(o.lines, "\n\t"), strings.Join(want, "\n\t"))
	}
	o.lines = nil
}

func TestObserverIsToldEachDecision(t *testing.T) {
	hour := func(n int64) ratelimit.Limit { return ratelimit.Limit{Count: n, Period: time.Hour} }
	open, closed := ratelimit.FailOpen, ratelimit.FailClosed
	failing := newOutage()
	failing.take = func(context.Context, []ratelimit.Charge, []ratelimit.Result) error { return errDown }
	misconfigured := newOutage()
	misconfigured.take = func(context.Context, []ratelimit.Charge, []ratelimit.Result) error {
		return fmt.Errorf("%w: no connection", ratelimit.ErrMisconfigured)
	}
	tests := []struct {
		name  string
		store ratelimit.Store // nil: one in memory
		rules []ratelimit.Rule
		want  []string // of two calls
	}{
		{
			"one limit", nil,
			[]ratelimit.Rule{{Key: "k:{@user}", Limit: hour(1)}},
			[]string{"decision m 1h[k:a%3Ab]:allowed:0", "decision m 1h[k:a%3Ab]:refused:0"},
		},
		{
			"several", nil,
			[]ratelimit.Rule{{Key: "a", Limit: hour(5)}, {Key: "b", Name: "day", Limit: hour(1)}},
			[]string{"decision m 1h[a]:allowed:4 day[b]:allowed:0", "decision m 1h[a]:allowed:4 day[b]:refused:0"},
		},
		{
			"no part of the key", nil,
			[]ratelimit.Rule{{Key: "a", Limit: hour(5)}, {Key: "b:{@ip}", Name: "day", Limit: hour(1)}},
			[]string{"decision m day[]:refused:0", "decision m day[]:refused:0"},
		},
		{
			"no part of the key, which is let pass", nil,
			[]ratelimit.Rule{{Key: "b:{@ip}", Limit: hour(1), OnEmpty: ratelimit.EmptyAllow}},
			nil,
		},
		{
			"shadows", nil,
			[]ratelimit.Rule{
				{Key: "a", Limit: hour(1)},
				{Key: "b", Name: "b", Limit: hour(7), Mode: ratelimit.ModeShadow},
				{Key: "c:{@ip}", Name: "c", Limit: hour(9), Mode: ratelimit.ModeShadow},
			},
			[]string{"decision m 1h[a]:allowed:0", "shadow m c[]:refused:0 b[b]:allowed:6", "decision m 1h[a]:refused:0"},
		},
		{
			"off", nil,
			[]ratelimit.Rule{{Key: "a", Limit: hour(1), Mode: ratelimit.ModeOff}},
			nil,
		},
		{
			"locally", failing,
			[]ratelimit.Rule{{Key: "a", Limit: hour(1)}, {Key: "b", Name: "b", Limit: hour(1), Fail: open}},
			[]string{
				"store error m local connection refused", "decision m 1h[a]:allowed:0 local",
				"store error m local connection refused", "decision m 1h[a]:refused:0 local",
			},
		},
		{
			"not at all", failing,
			[]ratelimit.Rule{{Key: "a", Limit: hour(1), Fail: open}},
			[]string{"store error m open connection refused", "store error m open connection refused"},
		},
		{
			"with an error", failing,
			[]ratelimit.Rule{{Key: "a", Limit: hour(1)}, {Key: "b", Name: "b", Limit: hour(1), Fail: closed}},
			[]string{"store error m closed connection refused", "store error m closed connection refused"},
		},
		{
			"one that is not to be got over", misconfigured,
			[]ratelimit.Rule{{Key: "a", Limit: hour(1), Fail: open}},
			[]string{"store error m closed misconfigured: no connection", "store error m closed misconfigured: no connection"},
		},
		{
			"shadows, locally or not at all", failing,
			[]ratelimit.Rule{{Key: "a", Limit: hour(1), Mode: ratelimit.ModeShadow}},
			[]string{
				"store error m local connection refused", "shadow m 1h[a]:allowed:0 local",
				"store error m local connection refused", "shadow m 1h[a]:refused:0 local",
			},
		},
		{
			"a shadow, for which no call fails", failing,
			[]ratelimit.Rule{{Key: "a", Limit: hour(1), Mode: ratelimit.ModeShadow, Fail: closed}},
			[]string{"store error m open connection refused", "store error m open connection refused"},
		},
		{
			"once, whoever wanted to know", failing,
			[]ratelimit.Rule{{Key: "a", Limit: hour(1), Fail: open}, {Key: "b", Name: "b", Limit: hour(1), Mode: ratelimit.ModeShadow}},
			[]string{
				"store error m open connection refused", "shadow m b[b]:allowed:0 local",
				"store error m open connection refused", "shadow m b[b]:refused:0 local",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				var told events
				store := tt.store
				if store == nil {
					store = memlimit.New()
				}
				g := newLimiter(t, store, ratelimit.Observe(&told), ratelimit.LocalStore(memlimit.New())).Guard("m", tt.rules...)
				ctx := ratelimit.WithCaller(t.Context(), "user", "a:b")
				for range 2 {
					_ = g.Allow(ctx)
				}
				told.check(t, tt.want...)
			})
		})
	}
}

func TestObserverIsToldOfCallsWithoutAMethod(t *testing.T) {
	in(t, func(t *testing.T) {
		var told events
		limit := ratelimit.Limit{Count: 1, Period: time.Hour}
		l := newLimiter(t, memlimit.New(), ratelimit.Observe(&told))
		for range 2 {
			if _, err := l.Allow(t.Context(), "a:b", limit); err != nil {
				t.Error(err)
			}
		}
		told.check(t, "decision  1h[a%3Ab]:allowed:0", "decision  1h[a%3Ab]:refused:0")
	})
}

// What a decision took is what the stores took, and not what a caller waited for its turn.
func TestObserverIsToldWhatADecisionTook(t *testing.T) {
	in(t, func(t *testing.T) {
		slow := newOutage()
		memory := memlimit.New()
		var err error
		slow.take = func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
			time.Sleep(3 * time.Millisecond)
			if err != nil {
				return err
			}
			return memory.Take(ctx, charges, results)
		}
		var took []time.Duration
		observer := observe(func(_ context.Context, e *ratelimit.Event) {
			if e.Kind == ratelimit.EventDecision || e.Kind == ratelimit.EventShadow {
				took = append(took, e.Took)
			}
			time.Sleep(time.Minute)
		})
		l := newLimiter(t, slow, ratelimit.Observe(observer), ratelimit.LocalStore(memlimit.New()))
		pace := l.Guard("pace", ratelimit.Rule{Key: "k", Limit: ratelimit.Limit{Count: 1, Period: time.Hour}, Wait: 2 * time.Hour})
		shadow := l.Guard("shadow", ratelimit.Rule{Key: "s", Limit: fivePerSecond, Mode: ratelimit.ModeShadow})
		checkError(t, pace.Allow(t.Context()), "")
		checkError(t, pace.Allow(t.Context()), "")
		checkError(t, shadow.Allow(t.Context()), "")
		err = errDown
		checkError(t, shadow.Allow(t.Context()), "")
		ms := 3 * time.Millisecond
		if want := []time.Duration{ms, ms, ms, ms}; !slices.Equal(took, want) {
			t.Errorf("took %v, want %v", took, want)
		}
	})
}

// slowPeek is a memory store that takes 5 ms to look.
type slowPeek struct{ *memlimit.Store }

func (s slowPeek) Peek(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	time.Sleep(5 * time.Millisecond)
	return s.Store.Peek(ctx, charges, results)
}

// A call that is refused since it would stand in line in vain has asked the store, too.
func TestObserverIsToldWhatARefusalInALineTook(t *testing.T) {
	in(t, func(t *testing.T) {
		took := make(chan time.Duration, 3)
		observer := observe(func(_ context.Context, e *ratelimit.Event) { took <- e.Took })
		window := ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 1, Period: time.Hour}
		g := newLimiter(t, slowPeek{memlimit.New()}, ratelimit.Observe(observer)).Guard("m", ratelimit.Rule{Key: "k", Limit: window, Wait: time.Hour})
		checkError(t, g.Allow(t.Context()), "")
		go func() { _ = g.Allow(t.Context()) }()
		synctest.Wait()
		hurried, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		checkError(t, g.Allow(hurried), "m: rate limit exceeded: limit 1h admits the call in 59m59.995s")
		for _, want := range []time.Duration{0, 5 * time.Millisecond, 0} { // the last of the one who waited
			if got := <-took; got != want {
				t.Errorf("took %v, want %v", got, want)
			}
		}
	})
}

// observe is an Observer that is a function.
type observe func(context.Context, *ratelimit.Event)

func (o observe) Observe(ctx context.Context, e *ratelimit.Event) { o(ctx, e) }

func TestSeveralObserversAreToldInOrder(t *testing.T) {
	var order []string
	note := func(name string) ratelimit.Observer {
		return observe(func(context.Context, *ratelimit.Event) { order = append(order, name) })
	}
	l := newLimiter(t, memlimit.New(), ratelimit.Observe(note("a"), note("b")), ratelimit.Observe(note("c")))
	checkError(t, l.Guard("m", rule(fivePerSecond)).Allow(t.Context()), "")
	if want := []string{"a", "b", "c"}; !slices.Equal(order, want) {
		t.Errorf("told %v, want %v", order, want)
	}
}

// A call whose Observer panics has its slot, and gives it back.
func TestCallOutlivesAnObserverThatPanics(t *testing.T) {
	in(t, func(t *testing.T) {
		var told events
		panics := observe(func(context.Context, *ratelimit.Event) { panic("an observer's") })
		g := newLimiter(t, memlimit.New(), ratelimit.Observe(panics, &told)).Guard("m", rule(slots(1, time.Hour)))
		for range 3 {
			begin(t, g, t.Context()).End()
		}
		told.check(t, "decision m limit[k]:allowed:0", "decision m limit[k]:allowed:0", "decision m limit[k]:allowed:0")
	})
}

func TestObserveRefusesNil(t *testing.T) {
	_, err := ratelimit.New(memlimit.New(), ratelimit.Observe(&events{}, nil))
	checkError(t, err, "ratelimit: Observe: observer 2 is nil: want an Observer")
}

func TestCallThatHasEndedIsNoFailureOfTheStore(t *testing.T) {
	var told events
	ctx, cancel := context.WithCancel(t.Context())
	store := newOutage()
	store.take = func(context.Context, []ratelimit.Charge, []ratelimit.Result) error {
		cancel()
		return errors.New("left")
	}
	g := newLimiter(t, store, ratelimit.Observe(&told)).Guard("m", rule(fivePerSecond))
	checkError(t, g.Allow(ctx), "m: rate limit undecided: context canceled: left")
	told.check(t)
}

type traceKey struct{}

// An Observer finds the trace of the call in the context, whatever the event of the call is.
func TestObserverIsGivenTheContextOfTheCall(t *testing.T) {
	in(t, func(t *testing.T) {
		var traced []string
		observer := observe(func(ctx context.Context, e *ratelimit.Event) {
			trace, _ := ctx.Value(traceKey{}).(string)
			traced = append(traced, lineOf(e)+" in "+trace)
		})
		store := &hooked{Store: memlimit.New()}
		l := newLimiter(t, store, ratelimit.Observe(observer), ratelimit.OnFailure(ratelimit.FailClosed))
		g := l.Guard("m", rule(slots(1, time.Minute)))
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), traceKey{}, "trace 1"))
		call := begin(t, g, ctx)
		cancel()
		store.refund = func(context.Context, []ratelimit.Charge) error { return errDown }
		call.End()
		synctest.Wait()

		store.refund = nil
		store.renew = func(context.Context, []ratelimit.Charge, []bool) error { return errDown }
		time.Sleep(time.Minute)
		lost := begin(t, g, context.WithValue(t.Context(), traceKey{}, "trace 2"))
		<-lost.Context().Done()
		lost.End()
		synctest.Wait()

		store.take = func(context.Context, []ratelimit.Charge, []ratelimit.Result) error { return errDown }
		if _, err := g.Begin(context.WithValue(t.Context(), traceKey{}, "trace 3")); err == nil {
			t.Error("a slot of a store that is down")
		}
		synctest.Wait() // slots are given back, lest the store has given them after all
		want := []string{
			"decision m limit[k]:allowed:0 in trace 1",
			"trouble m connection refused in trace 1",
			"decision m limit[k]:allowed:0 in trace 2",
			"trouble m limit limit: lease lost: connection refused in trace 2",
			"store error m closed connection refused in trace 3",
		}
		if !slices.Equal(traced, want) {
			t.Errorf("told\n\t%s\nwant\n\t%s", strings.Join(traced, "\n\t"), strings.Join(want, "\n\t"))
		}
	})
}

// A call that waits asks the store at each try, and is one call that it could not decide.
func TestCallThatWaitsThroughAnOutageIsToldOnce(t *testing.T) {
	in(t, func(t *testing.T) {
		var told events
		store := newOutage()
		store.take = func(context.Context, []ratelimit.Charge, []ratelimit.Result) error { return errDown }
		l := newLimiter(t, store, ratelimit.Observe(&told))
		g := l.Guard("m", ratelimit.Rule{Key: "k", Name: "slots", Limit: slots(1, time.Hour), Wait: 30 * time.Second})
		first, err := g.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer first.End()
		told.check(t, "store error m local connection refused", "decision m slots[k]:allowed:0 local")
		for _, left := range []string{"59m30s", "59m0s"} {
			_, err = g.Begin(t.Context())
			checkError(t, err, "m: rate limit exceeded: limit slots has all slots taken: the next lease ends in "+left)
			told.check(t, "store error m local connection refused", "decision m slots[k]:refused:0 local")
		}
	})
}
