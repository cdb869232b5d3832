package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// away is the error of a store that was not asked. It wraps what the store said last.
type away struct{ error }

func (away) Away() bool { return true }

func (a away) Unwrap() error { return a.error }

// nothing wraps no errors, though it says that it wraps several.
type nothing struct{}

func (nothing) Error() string { return "nothing" }

func (nothing) Unwrap() []error { return nil }

// failing is a store that has others decide while it fails.
func failing(err func() error) *outage {
	store := newOutage()
	store.take = func(context.Context, []ratelimit.Charge, []ratelimit.Result) error { return err() }
	store.refund = func(context.Context, []ratelimit.Charge) error { return err() }
	return store
}

// A value of somebody else under the key, say, leaves a limit to each process by itself, for ever: nobody would know.
func TestFailureOfCallsThatGoOnIsTold(t *testing.T) {
	foreign := errors.New("WRONGTYPE")
	hour := ratelimit.Limit{Count: 1000, Period: time.Hour}
	off := away{foreign}
	local, open, closed := ratelimit.FailLocal, ratelimit.FailOpen, ratelimit.FailClosed
	tests := []struct {
		name string
		rule ratelimit.Rule
		errs []error // of one call after the other, again and again
		told string  // each minute
	}{
		{"local", ratelimit.Rule{Fail: local}, []error{foreign}, "m: WRONGTYPE"},
		{"open", ratelimit.Rule{Fail: open}, []error{foreign}, "m: WRONGTYPE"},
		{"closed, which callers are told", ratelimit.Rule{Fail: closed}, []error{foreign}, ""},
		{"now and then", ratelimit.Rule{Fail: local}, []error{nil, nil, nil, foreign}, "m: WRONGTYPE"},
		{"a shadow", ratelimit.Rule{Mode: ratelimit.ModeShadow, Fail: local}, []error{foreign}, "m: WRONGTYPE"},
		{"a shadow that is open", ratelimit.Rule{Mode: ratelimit.ModeShadow, Fail: open}, []error{foreign}, "m: WRONGTYPE"},
		{"a shadow that is closed", ratelimit.Rule{Mode: ratelimit.ModeShadow, Fail: closed}, []error{foreign}, "m: WRONGTYPE"},
		{"away, which the store tells", ratelimit.Rule{Fail: local}, []error{off}, ""},
		{"away and wrapped", ratelimit.Rule{Fail: open}, []error{fmt.Errorf("mine: %w", off)}, ""},
		{"away, of which a call finds out again and again", ratelimit.Rule{Fail: local}, []error{off, off, foreign}, ""},
		{"all servers of a call are away", ratelimit.Rule{Fail: local}, []error{errors.Join(off, off)}, ""},
		{"one server of a call is away", ratelimit.Rule{Fail: local}, []error{errors.Join(off, foreign)}, "m: WRONGTYPE\nWRONGTYPE"},
		{"an error that wraps none of several", ratelimit.Rule{Fail: local}, []error{nothing{}}, "m: nothing"},
		{"a shadow, away", ratelimit.Rule{Mode: ratelimit.ModeShadow}, []error{off}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				var told errorsOf
				calls := 0
				memory := newOutage()
				store := failing(func() error { calls++; return tt.errs[(calls-1)%len(tt.errs)] })
				take := store.take
				store.take = func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
					if err := take(ctx, charges, results); err != nil {
						return err
					}
					return memory.Take(ctx, charges, results)
				}
				tt.rule.Key, tt.rule.Limit = "k", hour
				g := newLimiter(t, store, told.option()).Guard("m", tt.rule)
				var want []string
				for range 3 {
					for range 60 {
						_ = g.Allow(t.Context())
						time.Sleep(time.Second)
					}
					if tt.told != "" {
						want = append(want, tt.told)
					}
				}
				told.check(t, want...)
			})
		})
	}
}

func TestFailureOfACallWithoutAMethodIsTold(t *testing.T) {
	in(t, func(t *testing.T) {
		var told errorsOf
		l := newLimiter(t, failing(func() error { return errDown }), told.option())
		for range 10 {
			if result, err := l.Allow(t.Context(), "k", ratelimit.Limit{Count: 10, Period: time.Hour}); err != nil || !result.Allowed {
				t.Errorf("%+v, %v", result, err)
			}
		}
		told.check(t, ": connection refused")
	})
}

// What a method has told keeps no other from telling its own.
func TestEachMethodTellsOfItsFailures(t *testing.T) {
	in(t, func(t *testing.T) {
		var told errorsOf
		l := newLimiter(t, failing(func() error { return errDown }), told.option(), ratelimit.OnFailure(ratelimit.FailOpen))
		for _, method := range []string{"a", "b"} {
			g := l.Guard(method, ratelimit.Rule{Key: "k", Limit: fivePerSecond})
			checkError(t, g.Allow(t.Context()), "")
			checkError(t, g.Allow(t.Context()), "")
		}
		told.check(t, "a: connection refused", "b: connection refused")
	})
}

// Nothing is wrong with a store that a caller has left.
func TestShadowOfACallThatHasEndedIsNotTold(t *testing.T) {
	var told errorsOf
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rule := ratelimit.Rule{Key: "k", Limit: fivePerSecond, Mode: ratelimit.ModeShadow}
	checkError(t, newLimiter(t, memlimit.New(), told.option()).Guard("m", rule).Allow(ctx), "")
	told.check(t)
}

// One line for each of the calls that ran when the store went would be a flood.
func TestCallsThatEndDuringAnOutageDoNotFloodTheLog(t *testing.T) {
	tests := []struct {
		name string
		err  error
		told []string
	}{
		{"the store fails", errDown, []string{"m: connection refused"}},
		{"the store is away", away{errDown}, nil},
		{"the slots are lost", fmt.Errorf("refund: %w", ratelimit.ErrLeaseLost), []string{"m: refund: lease lost", "m: refund: lease lost", "m: refund: lease lost"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				var told errorsOf
				store := newOutage()
				g := newLimiter(t, store, told.option()).Guard("m", rule(slots(3, time.Hour)))
				calls := []*ratelimit.Call{begin(t, g, t.Context()), begin(t, g, t.Context()), begin(t, g, t.Context())}
				store.refund = func(context.Context, []ratelimit.Charge) error { return tt.err }
				for _, call := range calls {
					call.End()
				}
				told.check(t, tt.told...)
			})
		})
	}
}

// A store that was not asked has given no slots.
func TestSlotsAreDisownedOnlyIfTheStoreWasAsked(t *testing.T) {
	for err, want := range map[error]int{errDown: 1, away{errDown}: 0} {
		in(t, func(t *testing.T) {
			refunds := 0
			store := failing(func() error { return err })
			store.refund = func(context.Context, []ratelimit.Charge) error { refunds++; return nil }
			g := newLimiter(t, store, (&errorsOf{}).option(), ratelimit.OnFailure(ratelimit.FailOpen)).Guard("m", rule(slots(1, time.Hour)))
			begin(t, g, t.Context()).End()
			synctest.Wait()
			if refunds != want {
				t.Errorf("%v: %d refunds, want %d", err, refunds, want)
			}
		})
	}
}

// A panic in a goroutine that nobody else knows of would end the process.
func TestStoreThatPanicsInTheBackground(t *testing.T) {
	tests := []struct {
		name string
		do   func(t *testing.T, store *hooked, g *ratelimit.Guard)
		told string
	}{
		{"a renewal", func(t *testing.T, store *hooked, g *ratelimit.Guard) {
			store.renew = func(context.Context, []ratelimit.Charge, []bool) error { panic("a hook's") }
			call := begin(t, g, t.Context())
			<-call.Context().Done()
			call.End()
		}, "m: limit limit: lease lost: ratelimit: the store panicked: a hook's"},
		{"slots that may have been given", func(t *testing.T, store *hooked, g *ratelimit.Guard) {
			store.take = func(context.Context, []ratelimit.Charge, []ratelimit.Result) error { return errDown }
			store.refund = func(context.Context, []ratelimit.Charge) error { panic("a hook's") }
			refuses(t, g, "m: rate limit undecided: connection refused")
		}, "m: ratelimit: the store panicked: a hook's"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				var told errorsOf
				store := &hooked{Store: memlimit.New()}
				tt.do(t, store, newLimiter(t, store, told.option()).Guard("m", rule(slots(1, 3*time.Second))))
				synctest.Wait()
				if len(told.told) != 1 || !strings.HasPrefix(told.told[0], tt.told+"\ngoroutine ") {
					t.Errorf("told %.200q: want %q and a stack", told.told, tt.told)
				}
			})
		})
	}
}
