package redislimit_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// S03: a reply that is not one of the script's is an error, never a decision.
func TestUnexpectedReply(t *testing.T) {
	replies := map[string]any{
		"nil":             nil,
		"text":            "OK",
		"integer":         int64(0),
		"short array":     []any{int64(0), int64(1), int64(0)},
		"long array":      []any{int64(0), int64(1), int64(0), int64(0), int64(1)},
		"text for number": []any{"0", int64(1), int64(0), int64(1)},
		"nil for number":  []any{nil, int64(1), int64(0), int64(1)},
		"negative left":   []any{int64(0), int64(-1), int64(0), int64(1)},
		"negative wait":   []any{int64(-2), int64(1), int64(0), int64(1)},
		"endless wait":    []any{int64(1) << 60, int64(1), int64(0), int64(1)},
		"text for time":   []any{int64(0), int64(1), int64(0), "1"},
		"no time":         []any{int64(0), int64(1), int64(0), int64(0)},
		"far future":      []any{int64(0), int64(1), int64(0), int64(1) << 53},
		"many were lost":  int64(2),
		"few were lost":   int64(-1),
	}
	for name, reply := range replies {
		t.Run(name, func(t *testing.T) {
			client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:0"}) // never reached
			defer func() { _ = client.Close() }()
			client.AddHook(&intercept{answer: func(cmd redis.Cmder) (bool, error) {
				cmd.(interface{ SetVal(any) }).SetVal(reply)
				return true, nil
			}})
			store, results := redislimit.NewPatient(client), make([]ratelimit.Result, 1)
			for do, err := range map[string]error{
				"take": store.Take(t.Context(), tb("a", 1), results),
				"peek": store.Peek(t.Context(), tb("a", 1), results),
			} {
				if err == nil || !strings.HasPrefix(err.Error(), "redislimit: "+do+` "rl:{a}:tb:1m": unexpected reply `) {
					t.Errorf("%s: error %v", do, err)
				}
			}
			if results[0].Allowed {
				t.Error("the call is allowed")
			}
			if err := store.Refund(t.Context(), tb("a", 1)); (err == nil) != (reply == int64(0)) {
				t.Errorf("refund: error %v", err)
			}
		})
	}
}

// A delay is no longer than the caller would wait, and a lease is held or not.
func TestUnexpectedReplyOfTurnsAndLeases(t *testing.T) {
	var reply any
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:0"}) // never reached
	defer func() { _ = client.Close() }()
	client.AddHook(&intercept{answer: func(cmd redis.Cmder) (bool, error) {
		cmd.(interface{ SetVal(any) }).SetVal(reply)
		return true, nil
	}})
	store, results := redislimit.NewPatient(client), make([]ratelimit.Result, 1)

	charges := tb("a", 1)
	charges[0].Wait = 5 * time.Microsecond
	reply = []any{int64(-6), int64(0), int64(1), int64(1)}
	want := ratelimit.Result{Allowed: true, Limit: 5, ResetAfter: time.Microsecond, Delay: 5 * time.Microsecond, At: time.Microsecond}
	if r := take(t, store, charges); r != want {
		t.Errorf("got %+v, want %+v", r, want)
	}
	reply = []any{int64(-7), int64(0), int64(1), int64(1)}
	if err := store.Take(t.Context(), charges, results); err == nil || !strings.Contains(err.Error(), "unexpected reply") {
		t.Errorf("a delay of 6us for one who waits 5us: error %v", err)
	}

	held := []bool{true, true}
	for _, reply = range []any{
		nil, "OK", int64(1), []any{int64(1)}, []any{int64(1), int64(1), int64(1)}, []any{"1", int64(1)}, []any{int64(1), int64(2)}, []any{int64(1), nil},
	} {
		err := store.Renew(t.Context(), append(cc("a", 1, "ann"), cc("a", 1, "bob")...), held)
		if err == nil || !strings.HasPrefix(err.Error(), `redislimit: renew "rl:{a}:cc:1m", "rl:{a}:cc:1m": unexpected reply `) {
			t.Errorf("renew, answered %v: error %v", reply, err)
		}
	}
}
