package redislimit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// R45, S08
func keysBeforeAreUndone(t *testing.T, s shards) {
	tests := []struct {
		name string
		fail func(ctx context.Context) context.Context
		want string // in the error; "" is a refusal
	}{
		{name: "full", fail: func(ctx context.Context) context.Context {
			take(t, s.store, fw("b", 4))
			return ctx
		}},
		{"of another type", func(ctx context.Context) context.Context {
			s.client.Del(ctx, "rl:{b}:fw:1m")
			s.client.RPush(ctx, "rl:{b}:fw:1m", "of another program")
			return ctx
		}, "WRONGTYPE"},
		{"unreadable", func(ctx context.Context) context.Context {
			s.client.Set(ctx, "rl:{b}:fw:1m", "garbage", 0)
			return ctx
		}, "unreadable state"},
		{"not reached, as the context is cancelled in between", func(ctx context.Context) context.Context {
			ctx, cancel := context.WithCancel(ctx)
			s.client.AddHook(onScripts(func() error {
				cancel()
				return nil
			}, 2))
			return ctx
		}, "context canceled"},
		{"not reached", func(ctx context.Context) context.Context {
			s.client.AddHook(onScripts(func() error { return errors.New("no route") }, 2))
			return ctx
		}, "no route"},
	}
	for _, test := range tests {
		ofA := slices.Concat(tb("a", 1), lb("a", 1), sw("a", 1), sl("a", 1), fw("a", 1))
		charges := append(fw("b", 1), ofA...)
		charges[0], charges[1] = charges[1], charges[0] // b is the second key, and its place among those of a
		results, before, after := make([]ratelimit.Result, len(charges)), make([]ratelimit.Result, len(ofA)), make([]ratelimit.Result, len(ofA))
		if err := s.store.Reset(t.Context(), charges); err != nil {
			t.Fatal(err)
		}
		if err := s.store.Take(t.Context(), charges, results); err != nil {
			t.Fatal(err)
		}
		if err := s.store.Peek(t.Context(), ofA, before); err != nil {
			t.Fatal(err)
		}

		err := s.store.Take(test.fail(t.Context()), charges, results)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("b is %s: error %v: want %q", test.name, err, test.want)
		}
		if err := s.store.Peek(t.Context(), ofA, after); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(after, before) {
			t.Errorf("b is %s: a has become %+v: want %+v", test.name, after, before)
		}
		if test.want != "" {
			continue
		}
		full := ratelimit.Result{Limit: 5, RetryAfter: time.Minute, ResetAfter: time.Minute, At: sinceEpoch(0)}
		if want := slices.Insert(slices.Clone(before), 1, full); !slices.Equal(results, want) {
			t.Errorf("b is %s:\n got %+v\nwant %+v", test.name, results, want)
		}
	}
}

// onScripts does something before these scripts are sent, counted from 1 on. Its error becomes theirs.
func onScripts(do func() error, which ...int) redis.Hook {
	scripts := 0
	return &intercept{answer: func(cmd redis.Cmder) (bool, error) {
		if cmd.Name() != "evalsha" {
			return false, nil
		}
		if scripts++; !slices.Contains(which, scripts) {
			return false, nil
		}
		err := do()
		return err != nil, err
	}}
}

func undoFails(t *testing.T, s shards) {
	charges, results := append(tb("a", 1), tb("b", 1)...), make([]ratelimit.Result, 2)
	if err := s.store.Take(t.Context(), charges, results); err != nil { // the servers get to know the script
		t.Fatal(err)
	}
	if err := s.store.Refund(t.Context(), charges); err != nil {
		t.Fatal(err)
	}
	charges[1].Cost = 6
	fail := func() error { return errors.New("no route") }
	s.client.AddHook(onScripts(fail, 3))
	err := s.store.Take(t.Context(), charges, results)
	if want := `redislimit: refund "rl:{a}:tb:1m": no route`; err == nil || err.Error() != want {
		t.Errorf("refused: error %v: want %s", err, want)
	}

	s.client.AddHook(onScripts(fail, 2, 3))
	err = s.store.Take(t.Context(), charges, results)
	want := `redislimit: take "rl:{b}:tb:1m": no route` + "\n" + `redislimit: refund "rl:{a}:tb:1m": no route`
	if err == nil || err.Error() != want {
		t.Errorf("error %v: want %s", err, want)
	}

	if r := take(t, s.store, tb("a", 1)); r.Remaining != 2 {
		t.Errorf("%d remain: want 2, as the two charges could not be refunded", r.Remaining)
	}
}

func reservationIsUndone(t *testing.T, s shards) {
	for _, ofA := range [][]ratelimit.Charge{tb("a", 5), lb("a", 5)} {
		take(t, s.store, ofA)
		ofA[0].Cost, ofA[0].Wait = 2, time.Hour
		take(t, s.store, ofA)
		results := make([]ratelimit.Result, 2)
		if err := s.store.Take(t.Context(), append(ofA, tb("b", 6)...), results); err != nil {
			t.Fatal(err)
		}
		want := ratelimit.Result{Allowed: true, Limit: 5, ResetAfter: 7 * 12 * time.Second, Delay: 4 * 12 * time.Second, At: sinceEpoch(0)}
		if results[0] != want || results[1].Allowed {
			t.Errorf("after a refusal:\n got %+v\nwant %+v", results[0], want)
		}
	}
}

func windowIsUndone(t *testing.T, s shards) {
	charges, results := append(sw("a", 5), tb("b", 6)...), make([]ratelimit.Result, 2)
	for range 2 { // the servers get to know the scripts
		if err := s.store.Take(t.Context(), charges, results); err != nil {
			t.Fatal(err)
		}
	}
	s.client.AddHook(onScripts(func() error {
		s.advance(time.Minute)
		return nil
	}, 2))
	if err := s.store.Take(t.Context(), charges, results); err != nil || results[0].Remaining != 5 {
		t.Errorf("error %v, %+v: want 5 left, as before it was refused in the next window", err, results[0])
	}
}

func slotIsReleased(t *testing.T, s shards) {
	results := make([]ratelimit.Result, 2)
	if err := s.store.Take(t.Context(), append(cc("a", 5, "first"), tb("b", 6)...), results); err != nil {
		t.Fatal(err)
	}
	if !results[0].Allowed || results[0].Remaining != 5 || results[1].Allowed {
		t.Errorf("results %+v: want five slots left, and a refusal", results)
	}
	if r := take(t, s.store, cc("a", 5, "second")); !r.Allowed {
		t.Errorf("%+v: the slots of the refused call are taken", r)
	}

	// What is lost in the meantime needs no release.
	s.client.AddHook(onScripts(func() error {
		s.advance(2 * time.Minute)
		return nil
	}, 2))
	if err := s.store.Take(t.Context(), append(cc("c", 1, "third"), tb("b", 6)...), results); err != nil || results[1].Allowed {
		t.Errorf("error %v, results %+v: want a refusal", err, results)
	}
}
