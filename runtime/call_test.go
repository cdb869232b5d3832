package ratelimit_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// slots is a limit of n calls at once.
func slots(n int64, lease time.Duration) ratelimit.Limit {
	return ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: n, Period: lease}
}

func rule(limit ratelimit.Limit) ratelimit.Rule {
	return ratelimit.Rule{Key: "k", Name: "limit", Limit: limit}
}

// hooked is a memory store in front of which a test puts what it likes. A nil function is the store's own.
type hooked struct {
	*memlimit.Store
	take   func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error
	refund func(ctx context.Context, charges []ratelimit.Charge) error
	renew  func(ctx context.Context, charges []ratelimit.Charge, held []bool) error
}

func (h *hooked) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if h.take != nil {
		return h.take(ctx, charges, results)
	}
	return h.Store.Take(ctx, charges, results)
}

func (h *hooked) Refund(ctx context.Context, charges []ratelimit.Charge) error {
	if h.refund != nil {
		return h.refund(ctx, charges)
	}
	return h.Store.Refund(ctx, charges)
}

func (h *hooked) Renew(ctx context.Context, charges []ratelimit.Charge, held []bool) error {
	if h.renew != nil {
		return h.renew(ctx, charges, held)
	}
	return h.Store.Renew(ctx, charges, held)
}

// errorsOf collects the warnings that a Limiter logs. It implements [slog.Handler].
type errorsOf struct {
	mu   sync.Mutex
	told []string
}

func (e *errorsOf) option() ratelimit.Option { return ratelimit.Observe(ratelimit.Log(slog.New(e))) }

func (*errorsOf) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (e *errorsOf) Handle(_ context.Context, record slog.Record) error {
	var method, text string
	record.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "method":
			method = a.Value.String()
		case "error":
			text = a.Value.String()
		}
		return true
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	e.told = append(e.told, method+": "+text)
	return nil
}

func (e *errorsOf) WithAttrs([]slog.Attr) slog.Handler { return e }

func (e *errorsOf) WithGroup(string) slog.Handler { return e }

func (e *errorsOf) check(t *testing.T, want ...string) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.Equal(e.told, want) {
		t.Errorf("told %q\nwant %q", e.told, want)
	}
}

// begin begins a call that must be allowed.
func begin(t *testing.T, g *ratelimit.Guard, ctx context.Context) *ratelimit.Call {
	t.Helper()
	call, err := g.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return call
}

// refuses checks that a call is refused now.
func refuses(t *testing.T, g *ratelimit.Guard, want string) {
	t.Helper()
	call, err := g.Begin(t.Context())
	if call != nil {
		t.Error("a refused call is one")
		call.End()
	}
	checkError(t, err, want)
}

// in runs a test in a bubble whose clock is the test's.
func in(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

func TestSlotIsHeldUntilTheCallEnds(t *testing.T) {
	in(t, func(t *testing.T) {
		g := newLimiter(t, memlimit.New()).Guard("m", rule(slots(2, time.Minute)))
		first, second := begin(t, g, t.Context()), begin(t, g, t.Context())
		time.Sleep(time.Second)
		refuses(t, g, "m: rate limit exceeded: limit limit has all slots taken: the next lease ends in 59s")
		first.End()
		begin(t, g, t.Context()).End()
		second.End()
	})
}

// C12: the panic goes on, and so does the next call. C15: nor does a call that fails keep its slot.
func TestSlotIsReleasedHoweverTheCallEnds(t *testing.T) {
	calls := map[string]func(){
		"return": func() {},
		"panic":  func() { panic("the call's own") },
		"Goexit": runtime.Goexit,
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				g := newLimiter(t, memlimit.New()).Guard("m", rule(slots(1, time.Hour)))
				ended := make(chan any)
				for range 3 {
					go func() {
						defer func() { ended <- recover() }()
						defer begin(t, g, t.Context()).End()
						call()
					}()
					if value := <-ended; name == "panic" && value != "the call's own" {
						t.Errorf("recovered %v", value)
					}
				}
			})
		})
	}
}

// C13
func TestCallEndsOnce(t *testing.T) {
	in(t, func(t *testing.T) {
		var told errorsOf
		g := newLimiter(t, memlimit.New(), told.option()).Guard("m", rule(slots(1, time.Hour)))
		a := begin(t, g, t.Context())
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(a.End)
		}
		wg.Wait()
		b := begin(t, g, t.Context())
		a.End()
		refuses(t, g, "m: rate limit exceeded: limit limit has all slots taken: the next lease ends in 1h0m0s")
		b.End()
		told.check(t)
	})
}

// C14
func TestSlotIsReleasedAfterTheContextHasEnded(t *testing.T) {
	in(t, func(t *testing.T) {
		var told errorsOf
		g := newLimiter(t, memlimit.New(), told.option()).Guard("m", rule(slots(1, time.Hour)))
		ctx, cancel := context.WithCancel(t.Context())
		call := begin(t, g, ctx)
		cancel()
		call.End()
		begin(t, g, t.Context()).End()
		told.check(t)
	})
}

// C09
func TestSlotsAndUnitsAreTakenTogether(t *testing.T) {
	in(t, func(t *testing.T) {
		store := memlimit.New()
		g := newLimiter(t, store).Guard("m",
			ratelimit.Rule{Key: "k", Name: "slots", Limit: slots(1, time.Minute)},
			ratelimit.Rule{Key: "k", Name: "hour", Limit: ratelimit.Limit{Count: 2, Period: time.Hour}},
		)
		call := begin(t, g, t.Context())
		refuses(t, g, "m: rate limit exceeded: limit slots has all slots taken: the next lease ends in 1m0s")
		call.End()
		begin(t, g, t.Context()).End()
		refuses(t, g, "m: rate limit exceeded: limit hour admits the call in 30m0s")
		if n := store.Len(); n != 1 {
			t.Errorf("%d buckets are left: want the hour's, and no slot", n)
		}
	})
}

func TestConcurrencyNeedsACallThatEnds(t *testing.T) {
	l := newLimiter(t, memlimit.New())
	checkError(t, l.Guard("m", rule(slots(1, time.Minute))).Allow(t.Context()),
		"m: rate limit undecided: ratelimit: a limit of the method is Concurrency: want Guard.Begin, whose Call ends")
	_, err := l.Allow(t.Context(), "k", slots(1, time.Minute))
	checkError(t, err, "rate limit undecided: ratelimit: Concurrency needs a call that ends: want Guard.Begin")
}

func TestCallOfAStoreThatDoesNotAnswer(t *testing.T) {
	store := &hooked{Store: memlimit.New()}
	store.take = func(context.Context, []ratelimit.Charge, []ratelimit.Result) error {
		return errors.New("connection refused")
	}
	closed := newLimiter(t, store).Guard("m", rule(slots(1, time.Minute)))
	refuses(t, closed, "m: rate limit undecided: connection refused")
	open := newLimiter(t, store, ratelimit.OnFailure(ratelimit.FailOpen)).Guard("m", rule(slots(1, time.Minute)))
	for range 2 {
		call := begin(t, open, t.Context())
		if call.Context() != t.Context() {
			t.Error("a call that holds nothing has a context of its own")
		}
		defer call.End()
	}
}

func TestHoldersCannotBeGuessed(t *testing.T) {
	var s script
	g := newLimiter(t, &s).Guard("m", rule(slots(1, time.Minute)))
	for range 100 {
		begin(t, g, t.Context())
	}
	seen := map[string]bool{}
	for _, c := range s.asked {
		if len(c.Holder) < 22 || seen[c.Holder] {
			t.Errorf("holder %q", c.Holder)
		}
		seen[c.Holder] = true
	}
}

// When only the reply of the store was lost, nobody knows of the slots that it gave.
func TestSlotsWhoseReplyWasLostAreReleased(t *testing.T) {
	in(t, func(t *testing.T) {
		store := &hooked{Store: memlimit.New()}
		store.take = func(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
			if err := store.Store.Take(ctx, charges, results); err != nil {
				return err
			}
			return errors.New("i/o timeout")
		}
		g := newLimiter(t, store).Guard("m", rule(slots(1, time.Hour)))
		refuses(t, g, "m: rate limit undecided: i/o timeout")
		synctest.Wait()
		store.take = nil
		begin(t, g, t.Context()).End()
	})
}

// A cost that no store takes is nothing that a store has failed.
func TestMoreSlotsThanACallMayHold(t *testing.T) {
	r := rule(slots(2000, time.Minute))
	r.CostArg = true
	l := newLimiter(t, memlimit.New(), ratelimit.OnFailure(ratelimit.FailOpen))
	_, err := l.Guard("m", r).Begin(t.Context(), ratelimit.Cost("limit", 1500))
	checkError(t, err, "m: rate limit undecided: ratelimit: the cost of limit limit is 1500: want at most 1000 slots a call")
	r.CostArg, r.Cost = false, 1500
	_, err = l.Guard("m", r).Begin(t.Context())
	checkError(t, err, "m: rate limit undecided: ratelimit: Rule.Cost is 1500: want at most 1000 slots a call")
}
