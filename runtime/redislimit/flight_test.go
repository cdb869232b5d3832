package redislimit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// S15, S13: no call takes longer than its context or its budget, to the microsecond, whatever the client does.
func TestCallsEndInTime(t *testing.T) {
	const ms = time.Millisecond
	within := func(d time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
		return func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, d) }
	}
	canceledAfter := func(d time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
		return func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(d, cancel)
			return ctx, cancel
		}
	}
	tests := []struct {
		name   string
		opts   []redislimit.Option
		server func(context.Context, string) error
		ctx    func(context.Context) (context.Context, context.CancelFunc) // nil is without end
		takes  time.Duration
		text   string // of the error; "" is none
		kind   redislimit.Kind
		is     error // of those of a context, what the error matches
	}{
		{name: "the server hangs", server: hang, takes: 100 * ms, text: "no answer within 100ms", kind: "timeout"},
		{name: "the server cannot be reached", server: noRoute, takes: 100 * ms, text: "no answer within 100ms", kind: "timeout"},
		{name: "a budget of one's own", server: hang, opts: []redislimit.Option{redislimit.Timeout(50 * ms)}, takes: 50 * ms, text: "no answer within 50ms", kind: "timeout"},
		{name: "the server is just in time", server: after(100*ms - 1), takes: 100*ms - 1},
		{name: "a shorter deadline", server: hang, ctx: within(25 * ms), takes: 25 * ms, text: "context deadline exceeded", kind: "timeout", is: context.DeadlineExceeded},
		{name: "a shorter deadline that the client looks at", server: noRoute, ctx: within(25 * ms), takes: 25 * ms, text: "context deadline exceeded", kind: "timeout", is: context.DeadlineExceeded},
		{name: "a longer deadline", server: hang, ctx: within(time.Hour), takes: 100 * ms, text: "no answer within 100ms", kind: "timeout"},
		{name: "canceled in between", server: hang, ctx: canceledAfter(10 * ms), takes: 10 * ms, text: "context canceled", kind: "canceled", is: context.Canceled},
		{name: "canceled while it is connected", server: noRoute, ctx: canceledAfter(10 * ms), takes: 10 * ms, text: "context canceled", kind: "canceled", is: context.Canceled},
		{name: "no budget", server: after(time.Minute), opts: []redislimit.Option{redislimit.Timeout(0)}, takes: time.Minute},
		{name: "no budget, but a deadline", server: hang, opts: []redislimit.Option{redislimit.Timeout(-1)}, ctx: within(time.Second), takes: time.Second, text: "context deadline exceeded", kind: "timeout", is: context.DeadlineExceeded},
		{name: "the client's own timeout is shorter", server: func(context.Context, string) error { time.Sleep(30 * ms); return os.ErrDeadlineExceeded }, takes: 30 * ms, text: "i/o timeout", kind: "timeout"},
		{name: "the client's own timeout looks like a deadline", server: func(context.Context, string) error { return fmt.Errorf("dial: %w", context.DeadlineExceeded) }, text: "dial: context deadline exceeded", kind: "timeout"},
	}
	for _, test := range tests {
		methods := map[string]func(context.Context, *redislimit.Store) error{
			"take": func(ctx context.Context, s *redislimit.Store) error {
				return s.Take(ctx, tb("a", 1), make([]ratelimit.Result, 1))
			},
			"peek": func(ctx context.Context, s *redislimit.Store) error {
				return s.Peek(ctx, tb("a", 1), make([]ratelimit.Result, 1))
			},
			"refund": func(ctx context.Context, s *redislimit.Store) error { return s.Refund(ctx, tb("a", 1)) },
			"renew": func(ctx context.Context, s *redislimit.Store) error {
				return s.Renew(ctx, cc("a", 1, "x"), make([]bool, 1))
			},
			"reset": func(ctx context.Context, s *redislimit.Store) error { return s.Reset(ctx, tb("a", 1)) },
		}
		if test.text == "" { // the answer is a decision
			delete(methods, "refund")
			delete(methods, "renew")
		}
		for method, call := range methods {
			t.Run(test.name+"/"+method, func(t *testing.T) {
				inFakeTime(t, func(t *testing.T) {
					client := &fake{do: test.server}
					store := redislimit.NewOn(client, nil, test.opts...)
					ctx := t.Context()
					if test.ctx != nil {
						var cancel context.CancelFunc
						ctx, cancel = test.ctx(ctx)
						defer cancel()
					}
					start := time.Now()
					err := call(ctx, store)
					if d := time.Since(start); d != test.takes {
						t.Errorf("took %v: want %v", d, test.takes)
					}
					key := "rl:{a}:tb:1m"
					if method == "renew" {
						key = "rl:{a}:cc:1m"
					}
					if want := fmt.Sprintf("redislimit: %s %q: %s", method, key, test.text); test.text != "" && (err == nil || err.Error() != want) {
						t.Errorf("error %v: want %s", err, want)
					} else if test.text == "" && err != nil {
						t.Errorf("error %v", err)
					}
					if kind := kindOf(err); kind != test.kind {
						t.Errorf("kind %q: want %q", kind, test.kind)
					}
					for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
						if got := errors.Is(err, ended); got != (test.is != nil && errors.Is(test.is, ended)) {
							t.Errorf("whether it is %v: %v", ended, got)
						}
					}
					if n := client.count(); n != 1 {
						t.Errorf("%d commands were sent: want 1", n)
					}
				})
			})
		}
	}
}

// S15: of a call whose context has ended nothing is sent.
func TestEndedContextSendsNothing(t *testing.T) {
	client := &fake{}
	store := redislimit.NewOn(client, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := takeOne(ctx, store, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if n := client.count(); n != 0 {
		t.Errorf("%d commands were sent", n)
	}
}

// What an abandoned call brings in the end is nobody's: its caller may long use the memory for something else.
func TestLateAnswerIsForgotten(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		store := redislimit.NewOn(&fake{do: after(time.Second)}, nil)
		charges, results := tb("a", 1), make([]ratelimit.Result, 1)
		if err := store.Take(t.Context(), charges, results); kindOf(err) != redislimit.KindTimeout {
			t.Fatal(err)
		}
		charges[0].Key[0] = 'b'
		time.Sleep(2 * time.Second)
		if results[0] != (ratelimit.Result{}) {
			t.Errorf("the late answer has become %+v", results[0])
		}
	})
}

// A panic in a hook of the client is the caller's to recover, as it would be without the flight.
func TestPanicOfAHook(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		client := &fake{}
		store := redislimit.NewOn(client, nil)
		panics := func() {
			client.serve(func(context.Context, string) error { panic("of a hook") })
			defer func() {
				if r := recover(); r != "of a hook" {
					t.Errorf("recovered %v", r)
				}
			}()
			_, err := takeOne(t.Context(), store, "a")
			t.Errorf("error %v: want a panic", err)
		}
		for range 10 { // it is no failure of the server
			panics()
		}
		client.serve(hang)
		fails(t, store, "a", 5, redislimit.KindTimeout)
		time.Sleep(time.Second)
		panics() // and no answer of it either, of a call that tries whether it is back
		client.serve(nil)
		fails(t, store, "a", 1, "")
	})
}

// A script whose keys are moved to another server is sent again until they are there: the server has not run it.
func TestKeysOnTheMove(t *testing.T) {
	const moving = "TRYAGAIN Multiple keys request during rehashing of slot"
	tests := []struct {
		name  string
		opts  []redislimit.Option
		lasts time.Duration
		sent  int
		takes time.Duration
		kind  redislimit.Kind
	}{
		{"for a moment", nil, 25 * time.Millisecond, 4, 30 * time.Millisecond, ""},
		{"for longer than the budget", nil, time.Hour, 10, 90 * time.Millisecond, "clusterdown"},
		{"for long, without a budget", []redislimit.Option{redislimit.Timeout(0)}, time.Hour, 101, redislimit.TryAgainMost, "clusterdown"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				start := time.Now()
				client := &fake{do: func(context.Context, string) error {
					if time.Since(start) < test.lasts {
						return serverError(moving)
					}
					return nil
				}}
				took, err := takeOne(t.Context(), redislimit.NewOn(client, nil, test.opts...), "a")
				if n := client.count(); n != test.sent || took != test.takes || kindOf(err) != test.kind {
					t.Errorf("sent %d times in %v, kind %q, error %v: want %d in %v, %q", n, took, kindOf(err), err, test.sent, test.takes, test.kind)
				}
			})
		})
	}
}
