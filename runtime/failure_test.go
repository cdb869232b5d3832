package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// S14: an outage is an error, never a refusal.
func TestStoreFailure(t *testing.T) {
	down := errors.New("connection refused")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name string
		opts []ratelimit.Option
		ctx  context.Context
		want error // what the call's error matches; nil: the call goes on
	}{
		{"local by default, which nothing here can be", nil, t.Context(), down},
		{"closed", []ratelimit.Option{ratelimit.OnFailure(ratelimit.FailClosed)}, t.Context(), down},
		{"open", []ratelimit.Option{ratelimit.OnFailure(ratelimit.FailOpen)}, t.Context(), nil},
		{"open, but the call has ended", []ratelimit.Option{ratelimit.OnFailure(ratelimit.FailOpen)}, cancelled, context.Canceled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			recorded := &recorder{}
			l := newLimiter(t, &script{err: down}, tt.opts...)
			err := l.Guard("m", ratelimit.Rule{Key: "k", Limit: fivePerSecond}).Allow(ratelimit.WithRecorder(tt.ctx, recorded))
			result, err2 := l.Allow(tt.ctx, "k", fivePerSecond)
			for _, err := range []error{err, err2} {
				var undecided *ratelimit.DecisionError
				if !errors.Is(err, tt.want) || (err != nil && !errors.As(err, &undecided)) || errors.Is(err, ratelimit.ErrLimited) {
					t.Errorf("error %v: want a DecisionError for %v", err, tt.want)
				}
			}
			if want := (ratelimit.Result{Allowed: tt.want == nil}); result != want {
				t.Errorf("Allow() = %+v, want %+v", result, want)
			}
			if len(recorded.lines) != 0 {
				t.Errorf("recorded what nobody decided: %q", recorded.lines)
			}
		})
	}
}

// S05: what no retry and no repair of the store can mend is told even to those who would rather let calls pass.
func TestFailOpenDoesNotHideAMisconfiguredStore(t *testing.T) {
	store := &script{err: fmt.Errorf("redislimit: %w: no client", ratelimit.ErrMisconfigured)}
	_, err := newLimiter(t, store, ratelimit.OnFailure(ratelimit.FailOpen)).Allow(t.Context(), "k", fivePerSecond)
	checkError(t, err, "rate limit undecided: redislimit: misconfigured: no client")
}

type dying struct {
	ratelimit.Store
	cancel context.CancelFunc
}

func (d dying) Take(context.Context, []ratelimit.Charge, []ratelimit.Result) error {
	d.cancel()
	return errors.New("broken pipe")
}

func TestCallThatEndsDuringTheDecision(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := newLimiter(t, dying{cancel: cancel}, ratelimit.OnFailure(ratelimit.FailOpen)).Allow(ctx, "k", fivePerSecond)
	checkError(t, err, "rate limit undecided: context canceled: broken pipe")
}

// A timeout of the store's own, or a context that it cancels itself, is not the caller's, who would take it for its own.
func TestStoresOwnTimeoutIsNotTheCallers(t *testing.T) {
	own := &timeoutError{}
	ended := func(timeout time.Duration) context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		cancel() // has no effect on one that is over
		return ctx
	}
	for name, tt := range map[string]struct {
		ctx     context.Context
		store   error
		matches error // of the errors of contexts; nil for none
	}{
		"a timeout":                     {t.Context(), fmt.Errorf("db: %w", context.DeadlineExceeded), nil},
		"a cancellation":                {t.Context(), fmt.Errorf("db: %w", context.Canceled), nil},
		"both":                          {t.Context(), errors.Join(context.Canceled, context.DeadlineExceeded), nil},
		"with a call that was canceled": {ended(time.Hour), fmt.Errorf("db: %w", context.Canceled), context.Canceled},
		"a timeout, with a call that was canceled":     {ended(time.Hour), context.DeadlineExceeded, context.Canceled},
		"a cancellation, with a call whose time is up": {ended(0), context.Canceled, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			store := &hooked{Store: memlimit.New()}
			late := &later{Context: tt.ctx} // has ended when the store answers
			store.take = func(context.Context, []ratelimit.Charge, []ratelimit.Result) error {
				late.now = true
				return errors.Join(own, tt.store)
			}
			var told error
			observer := observe(func(_ context.Context, e *ratelimit.Event) { told = e.Err })
			l := newLimiter(t, store, ratelimit.OnFailure(ratelimit.FailClosed), ratelimit.Observe(observer))
			_, allow := l.Allow(late, "k", fivePerSecond)
			late.now = false
			guarded := l.Guard("m", ratelimit.Rule{Key: "k", Limit: fivePerSecond}).Allow(late)
			for _, err := range []error{allow, guarded} {
				for _, target := range []error{context.Canceled, context.DeadlineExceeded} {
					if got, want := errors.Is(err, target), errors.Is(tt.matches, target); got != want {
						t.Errorf("%v matches %v: %v, want %v", err, target, got, want)
					}
				}
				if got, ok := errors.AsType[*timeoutError](err); !errors.Is(err, own) || !ok || got != own {
					t.Errorf("%v does not wrap the rest of the store's error", err)
				}
			}
			if tt.ctx.Err() == nil && !errors.Is(told, tt.store) {
				t.Errorf("observers are told %v, want %v", told, tt.store)
			}
		})
	}
}

// An error that no other can be compared to is to be found all the same in what wraps it.
func TestCauseOfADecisionErrorCanBeCompared(t *testing.T) {
	store := &hooked{Store: memlimit.New()}
	store.take = func(context.Context, []ratelimit.Charge, []ratelimit.Result) error {
		return listedError{context.DeadlineExceeded}
	}
	_, err := newLimiter(t, store, ratelimit.OnFailure(ratelimit.FailClosed)).Allow(t.Context(), "k", fivePerSecond)
	checkError(t, err, "rate limit undecided: 1 errors")
	if !errors.Is(err, errors.Unwrap(err)) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v does not match what it wraps, or a deadline that the call has not", err)
	}
	if _, ok := errors.AsType[listedError](err); !ok {
		t.Errorf("%v does not wrap the store's error", err)
	}
}

// listedError cannot be compared, as it is a slice.
type listedError []error

func (l listedError) Error() string { return fmt.Sprintf("%d errors", len(l)) }

func (l listedError) Unwrap() []error { return l }

type timeoutError struct{ _ byte }

func (*timeoutError) Error() string { return "own" }

// later is a context that has ended once it is time.
type later struct {
	context.Context
	now bool
}

func (l *later) Err() error {
	if !l.now {
		return nil
	}
	return l.Context.Err()
}

// outage is a memory store that does not answer while it is down, and brings another one for that time.
type outage struct {
	*hooked
	local *memlimit.Store
}

var errDown = errors.New("connection refused")

func newOutage() *outage { return &outage{&hooked{Store: memlimit.New()}, memlimit.New()} }

// Local is the Limiter's to call.
func (o *outage) Local() ratelimit.Store { return o.local }

func (o *outage) down(is bool) {
	o.take, o.refund, o.renew = nil, nil, nil
	if is {
		o.take = func(context.Context, []ratelimit.Charge, []ratelimit.Result) error { return errDown }
		o.refund = func(context.Context, []ratelimit.Charge) error { return errDown }
		o.renew = func(context.Context, []ratelimit.Charge, []bool) error { return errDown }
	}
}

func TestLocalStoreDecidesWhileTheOtherDoesNotAnswer(t *testing.T) {
	in(t, func(t *testing.T) {
		store := newOutage()
		l := newLimiter(t, store)
		g := l.Guard("m", ratelimit.Rule{Key: "k", Name: "limit", Limit: ratelimit.Limit{Count: 2, Period: time.Hour}})
		checkError(t, g.Allow(t.Context()), "")
		store.down(true)
		recorded := &recorder{}
		ctx := ratelimit.WithRecorder(t.Context(), recorded)
		checkError(t, g.Allow(ctx), "")
		checkError(t, g.Allow(ctx), "")
		checkError(t, g.Allow(ctx), "m: rate limit exceeded: limit limit admits the call in 30m0s")
		if want := "[m limit true 1 m limit true 0 m limit false 0]"; fmt.Sprint(recorded.lines) != want {
			t.Errorf("recorded %q", recorded.lines)
		}
		result, err := l.Allow(ctx, "k", fivePerSecond)
		if want := (ratelimit.Result{Allowed: true, Limit: 5, Remaining: 4, ResetAfter: 200 * time.Millisecond, At: result.At}); err != nil || result != want {
			t.Errorf("Allow() = %+v, %v: want %+v", result, err, want)
		}
		store.down(false)
		checkError(t, g.Allow(t.Context()), "")
		checkError(t, g.Allow(t.Context()), "m: rate limit exceeded: limit limit admits the call in 30m0s")
	})
}

func TestFailureOfEachLimit(t *testing.T) {
	hour := ratelimit.Limit{Count: 1, Period: time.Hour}
	rules := func(failures ...ratelimit.Failure) []ratelimit.Rule {
		all := make([]ratelimit.Rule, len(failures))
		for i, f := range failures {
			all[i] = ratelimit.Rule{Key: "k", Name: fmt.Sprint("limit", i), Limit: hour, Fail: f}
		}
		return all
	}
	tests := []struct {
		name   string
		rules  []ratelimit.Rule
		first  string
		second string
	}{
		{"open", rules("open"), "", ""},
		{"local", rules("local"), "", "m: rate limit exceeded: limit limit0 admits the call in 1h0m0s"},
		{"closed", rules("closed"), "m: rate limit undecided: connection refused", "m: rate limit undecided: connection refused"},
		{"the Limiter's", rules(""), "", "m: rate limit exceeded: limit limit0 admits the call in 1h0m0s"},
		{"open and local", rules("open", "local", "open"), "", "m: rate limit exceeded: limit limit1 admits the call in 1h0m0s"},
		{"local and closed", rules("local", "closed"), "m: rate limit undecided: connection refused", "m: rate limit undecided: connection refused"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				store := newOutage()
				store.down(true)
				g := newLimiter(t, store).Guard("m", tt.rules...)
				checkError(t, g.Allow(t.Context()), tt.first)
				checkError(t, g.Allow(t.Context()), tt.second)
			})
		})
	}
}

func TestShareOfAnInstance(t *testing.T) {
	tests := []struct {
		limit    ratelimit.Limit
		cost     int64
		capacity int64 // of the share
	}{
		{ratelimit.Limit{Count: 10, Period: time.Second}, 1, 3}, // of 4 instances
		{ratelimit.Limit{Count: 8, Period: time.Second, Burst: 100}, 1, 25},
		{ratelimit.Limit{Count: 1, Period: time.Second}, 1, 1},
		{ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 100, Period: time.Minute}, 1, 25},
		{ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: 10, Period: time.Minute}, 7, 7}, // or it could never be admitted
	}
	for _, tt := range tests {
		store := newOutage()
		store.down(true)
		result, err := newLimiter(t, store, ratelimit.Instances(4)).AllowN(t.Context(), "k", tt.limit, tt.cost)
		if err != nil || !result.Allowed || result.Limit != tt.capacity {
			t.Errorf("%+v, cost %d: %+v, %v: want a capacity of %d", tt.limit, tt.cost, result, err, tt.capacity)
		}
	}
}

// What the local store gave is given back to it, and renewed there.
func TestSlotsOfTheLocalStore(t *testing.T) {
	in(t, func(t *testing.T) {
		var told errorsOf
		store := newOutage()
		g := newLimiter(t, store, told.option()).Guard("m", rule(slots(1, 3*time.Second)))
		store.down(true)
		call := begin(t, g, t.Context())
		time.Sleep(10500 * time.Millisecond)
		if err := call.Context().Err(); err != nil {
			t.Errorf("the lease is lost: %v", err)
		}
		refuses(t, g, "m: rate limit exceeded: limit limit has all slots taken: the next lease ends in 2.5s")
		synctest.Wait()
		store.down(false)
		other := begin(t, g, t.Context())
		call.End()
		other.End()
		if n := store.local.Len() + store.Len(); n != 0 {
			t.Errorf("%d slots are left", n)
		}
		told.check(t, "m: connection refused")
	})
}

func TestLocalStoreOfTheUser(t *testing.T) {
	local := memlimit.New()
	l := newLimiter(t, &script{err: errDown}, ratelimit.LocalStore(local))
	if _, err := l.Allow(t.Context(), "k", fivePerSecond); err != nil || local.Len() != 1 {
		t.Errorf("%v, %d buckets", err, local.Len())
	}
	l = newLimiter(t, &script{err: errDown}, ratelimit.LocalStore(&script{err: errors.New("out of memory")}))
	_, err := l.Allow(t.Context(), "k", fivePerSecond)
	checkError(t, err, "rate limit undecided: connection refused; then locally: out of memory")
	if !errors.Is(err, errDown) {
		t.Errorf("error %#v", err)
	}
}

// The main store took its time to fail: the lease is as old as the local store's answer.
func TestSlotOfTheLocalStoreIsNew(t *testing.T) {
	in(t, func(t *testing.T) {
		store := newOutage()
		store.take = func(context.Context, []ratelimit.Charge, []ratelimit.Result) error {
			time.Sleep(5 * time.Second)
			return errDown
		}
		g := newLimiter(t, store).Guard("m", rule(slots(1, 3*time.Second)))
		call := begin(t, g, t.Context())
		time.Sleep(20 * time.Millisecond)
		if err := context.Cause(call.Context()); err != nil {
			t.Errorf("20 ms into the call: %v", err)
		}
		call.End()
	})
}

// A renewal that hangs in the main store holds up none in the local one.
func TestSlotOfTheLocalStoreIsRenewedWhileTheOtherHangs(t *testing.T) {
	in(t, func(t *testing.T) {
		store := newOutage()
		g := newLimiter(t, store, (&errorsOf{}).option()).Guard("m", rule(slots(1, 3*time.Second)))
		before := begin(t, g, t.Context())
		store.down(true)
		store.renew = func(ctx context.Context, _ []ratelimit.Charge, _ []bool) error {
			time.Sleep(10 * time.Second) // whatever ctx says
			return ctx.Err()
		}
		call := begin(t, g, t.Context())
		time.Sleep(9 * time.Second)
		if err := context.Cause(call.Context()); err != nil {
			t.Errorf("the local lease: %v", err)
		}
		if err := context.Cause(before.Context()); err != nil {
			t.Errorf("the other lease, of which the store has not said that it is lost: %v", err)
		}
		call.End()
		before.End()
		time.Sleep(time.Minute) // what hangs comes back
	})
}

// A call that waits is asked about with its own limits each time, whatever the try before came to.
func TestCallThatWaitsThroughAnOutage(t *testing.T) {
	tests := []struct {
		name  string
		fail  ratelimit.Failure // of the second limit
		fails int               // tries that the main store fails
		want  string
		asked []int64 // counts that the main store was asked about
	}{
		{"local", ratelimit.FailLocal, 1, "", []int64{8, 4, 8, 4}},
		{"local, several times", ratelimit.FailLocal, 3, "", []int64{8, 4, 8, 4, 8, 4, 8, 4}},
		{"open, then not any more", ratelimit.FailOpen, 1, "m: rate limit exceeded: limit second admits the call in 59m59.995s", []int64{8, 4, 8, 4}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				store := newOutage()
				l := newLimiter(t, store, ratelimit.Instances(2))
				hour := ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 4, Period: time.Hour}
				g := l.Guard("m",
					ratelimit.Rule{Key: "k", Name: "first", Limit: slots(8, time.Hour), Wait: time.Minute},
					ratelimit.Rule{Key: "k", Name: "second", Limit: hour, Fail: tt.fail},
				)
				local := []ratelimit.Charge{{Key: []byte("k"), Name: "first", Limit: slots(4, time.Hour), Cost: 4, Holder: "other"}}
				if err := store.local.Take(t.Context(), local, make([]ratelimit.Result, 1)); err != nil {
					t.Fatal(err)
				}
				if tt.want != "" {
					used := []ratelimit.Charge{{Key: []byte("k"), Name: "second", Limit: hour, Cost: 4}}
					if err := store.Store.Take(t.Context(), used, make([]ratelimit.Result, 1)); err != nil {
						t.Fatal(err)
					}
				}
				var asked []int64
				store.take = func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
					for _, c := range charges {
						asked = append(asked, c.Limit.Count)
					}
					if len(asked) <= 2*tt.fails {
						return errDown
					}
					return store.Store.Take(ctx, charges, results)
				}
				call, err := g.Begin(t.Context())
				checkError(t, err, tt.want)
				if call != nil {
					call.End()
				}
				if !slices.Equal(asked, tt.asked) {
					t.Errorf("asked about %v: want %v", asked, tt.asked)
				}
			})
		})
	}
}
