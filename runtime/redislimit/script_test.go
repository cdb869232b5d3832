package redislimit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// intercept stands between a client and its server.
type intercept struct {
	mu       sync.Mutex // held in answer too
	commands []string
	args     [][]any
	answer   func(cmd redis.Cmder) (handled bool, err error)
}

func (i *intercept) DialHook(next redis.DialHook) redis.DialHook { return next }
func (i *intercept) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (i *intercept) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if handled, err := i.intercept(cmd); handled {
			return err
		}
		return next(ctx, cmd)
	}
}

func (i *intercept) intercept(cmd redis.Cmder) (handled bool, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.commands, i.args = append(i.commands, cmd.Name()), append(i.args, cmd.Args())
	if i.answer == nil {
		return false, nil
	}
	return i.answer(cmd)
}

// serverError is an error reply.
type serverError string

func (e serverError) Error() string { return string(e) }
func (serverError) RedisError()     {}

// R45, S06: one round trip for all limits of a call, and nothing but keys among the keys.
func TestOneCommandForAllLimits(t *testing.T) {
	server := newMini(t)
	seen := &intercept{}
	store := redislimit.NewPatient(server.client)
	charges, results := append(tb("a", 1), fw("a", 2)...), make([]ratelimit.Result, 2)
	if err := store.Take(t.Context(), charges, results); err != nil { // the server gets to know the script
		t.Fatal(err)
	}
	server.client.AddHook(seen)
	if err := store.Take(t.Context(), charges, results); err != nil {
		t.Fatal(err)
	}
	if len(seen.commands) != 1 || seen.commands[0] != "evalsha" {
		t.Fatalf("sent %v: want one evalsha", seen.commands)
	}
	want := []any{2, "rl:{a}:tb:1m", "rl:{a}:fw:1m", "", "2 1", "tb 5 60000000 5 0 1 0", "fw 5 60000000 5 0 2 "}
	for i, arg := range seen.args[0][2:] {
		if i >= len(want) || arg != want[i] {
			t.Fatalf("arguments are %v: want %v", seen.args[0][2:], want)
		}
	}
}

// What a charge asks for beyond its cost comes last.
func TestChargeAsText(t *testing.T) {
	server := newMini(t)
	seen := &intercept{}
	server.client.AddHook(seen)
	store, results := redislimit.NewPatient(server.client), make([]ratelimit.Result, 1)
	waiting, leaving := tb("a", 1), lb("a", 1)
	waiting[0].Wait = 2 * time.Second
	leaving[0].Wait, leaving[0].Delay = time.Second, 5*time.Microsecond
	taken := func(charges []ratelimit.Charge) []ratelimit.Charge {
		charges[0].Taken = 7 * time.Microsecond
		return charges
	}
	for _, test := range []struct {
		charges []ratelimit.Charge
		want    string
	}{
		{tb("a", 1), "tb 5 60000000 5 0 1 0"},
		{lb("a", 1), "lb 5 60000000 5 0 1 0"},
		{fw("a", 1), "fw 5 60000000 5 0 1 "},
		{sw("a", 1), "sw 5 60000000 5 0 1 "},
		{sl("a", 1), "sl 5 60000000 5 0 1 "},
		{waiting, "tb 5 60000000 5 0 1 2000000"},
		{leaving, "lb 5 60000000 5 0 1 1000000 5"},
		{taken(fw("a", 1)), "fw 5 60000000 5 0 1 7"},
		{taken(sw("a", 1)), "sw 5 60000000 5 0 1 7"},
		{taken(sl("a", 1)), "sl 5 60000000 5 0 1 7"},
		{taken(tb("a", 1)), "tb 5 60000000 5 0 1 0"},
		{taken(lb("a", 1)), "lb 5 60000000 5 0 1 0"},
		{taken(cc("a", 1, "ann")), "cc 5 60000000 5 0 1 ann"},
		{cc("a", 1, "ann"), "cc 5 60000000 5 0 1 ann"},
		{cc("a", 0, ""), "cc 5 60000000 5 0 0 "},
	} {
		if err := store.Peek(t.Context(), test.charges, results); err != nil {
			t.Fatal(err)
		}
		args := seen.args[len(seen.args)-1]
		if got := args[len(args)-1]; got != test.want {
			t.Errorf("%+v: it is sent as %q: want %q", test.charges, got, test.want)
		}
	}
}

// S01, S03: the script is sent again after the server forgot it, whatever words stand before NOSCRIPT.
func TestForgottenScript(t *testing.T) {
	server := newMini(t)
	store := redislimit.NewPatient(server.client)
	for i := range int64(5) {
		if r := take(t, store, tb("a", 1)); r.Remaining != 4-i {
			t.Errorf("call %d: %d remain: want %d", i, r.Remaining, 4-i)
		}
		if err := server.client.ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}

	server.client.AddHook(&intercept{answer: func(cmd redis.Cmder) (bool, error) {
		return cmd.Name() == "evalsha", serverError("ERR proxy: NOSCRIPT No matching script")
	}})
	if r := take(t, store, fw("a", 1)); r.Remaining != 4 {
		t.Errorf("through the proxy %d remain: want 4", r.Remaining)
	}
}

// Each method has a script of its own that a server may have forgotten.
func TestForgottenScriptOfEachMethod(t *testing.T) {
	server := newMini(t)
	store := redislimit.NewPatient(server.client)
	charges, results, held := cc("a", 1, "ann"), make([]ratelimit.Result, 1), make([]bool, 1)
	for _, step := range []struct {
		do      string
		call    func() error
		holders int64 // afterwards
	}{
		{"take", func() error { return store.Take(t.Context(), charges, results) }, 1},
		{"peek", func() error { return store.Peek(t.Context(), charges, results) }, 1},
		{"renew", func() error { return store.Renew(t.Context(), charges, held) }, 1},
		{"refund", func() error { return store.Refund(t.Context(), charges) }, 0},
	} {
		if err := server.client.ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		if err := step.call(); err != nil {
			t.Errorf("%s: error %v", step.do, err)
		}
		if n := server.client.ZCard(t.Context(), keyOf(charges[0])).Val(); n != step.holders {
			t.Errorf("%s: %d holders: want %d", step.do, n, step.holders)
		}
	}
	if !held[0] {
		t.Error("the lease was not renewed")
	}
}

// S16: a server that may take up no more memory errs, and charges nothing.
func TestServerOutOfMemory(t *testing.T) {
	server := redistest.Client(t)
	store := redislimit.NewPatient(server)
	results := make([]ratelimit.Result, 1)
	for _, charges := range [][]ratelimit.Charge{tb("a", 1), fw("a", 1), lb("a", 1), sw("a", 1), sl("a", 1), cc("a", 1, "ann")} {
		take(t, store, charges)
		charges[0].Holder = "bob"
		if err := server.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
			t.Fatal(err)
		}
		if err := store.Take(t.Context(), charges, results); err == nil || !strings.Contains(err.Error(), "OOM") {
			t.Errorf("%s: error %v: want OOM", keyOf(charges[0]), err)
		}
		if err := server.ConfigSet(t.Context(), "maxmemory", "0").Err(); err != nil {
			t.Fatal(err)
		}
		if err := store.Peek(t.Context(), charges, results); err != nil || results[0].Remaining != 4 {
			t.Errorf("%s: %+v, error %v: want 4 to remain", keyOf(charges[0]), results[0], err)
		}
	}
}

// S17: a server that does not know the time cannot decide.
func TestServerWithoutTime(t *testing.T) {
	times := []string{"{0, 0}", "{'0', '0'}", "{'0', '5'}", "{'-1', '0'}", "{'soon', '0'}", "{}", "{'9007199255', '0'}"}
	servers(t, func(t *testing.T, server *redis.Client) {
		for _, time := range times {
			store := redislimit.NewWithPrelude(server, `
local server = redis
local redis = { error_reply = server.error_reply, status_reply = server.status_reply, pcall = server.pcall }
redis.call = function(command, ...)
  if command == 'TIME' then
    return `+time+`
  end
  return server.call(command, ...)
end
`)
			for do, err := range each(t, store, tb("a", 1)) {
				if err == nil || !strings.Contains(err.Error(), "the server does not know the time") {
					t.Errorf("%s at %s: error %v", do, time, err)
				}
			}
		}
		if keys := server.Keys(t.Context(), "*").Val(); len(keys) != 0 {
			t.Errorf("keys %q were written", keys)
		}
	})
}

// R30: two readings could lie on both sides of a window's end.
func TestOneReadingOfTheClockACall(t *testing.T) {
	servers(t, func(t *testing.T, server *redis.Client) {
		store, _ := clocked(t, server)
		charges := slices.Concat(tb("a", 1), fw("a", 1), lb("a", 1), sw("a", 1), sl("a", 1), cc("a", 1, "ann"))
		results := make([]ratelimit.Result, len(charges))
		for do, call := range map[string]func() error{
			"take":   func() error { return store.Take(t.Context(), charges, results) },
			"peek":   func() error { return store.Peek(t.Context(), charges, results) },
			"refund": func() error { return store.Refund(t.Context(), charges) }, // of a lease that may be lost
			"renew":  func() error { return store.Renew(t.Context(), charges[5:], make([]bool, 1)) },
		} {
			server.Del(t.Context(), "readings")
			if err := call(); err != nil && !errors.Is(err, ratelimit.ErrLeaseLost) {
				t.Fatal(err)
			}
			if n := server.Get(t.Context(), "readings").Val(); n != "1" {
				t.Errorf("%s reads the clock %s times: want once", do, n)
			}
		}
	})
}

// S14: what a server that is not there, or refuses, says is wrapped.
func TestErrorsAreWrapped(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:0"})
	defer func() { _ = client.Close() }()
	cause := serverError("READONLY You can't write against a read only replica.")
	client.AddHook(&intercept{answer: func(redis.Cmder) (bool, error) { return true, cause }})
	for do, err := range each(t, redislimit.NewPatient(client), tb("a", 1)) {
		if !errors.Is(err, cause) || err.Error() != "redislimit: "+do+` "rl:{a}:tb:1m": `+string(cause) {
			t.Errorf("error %v", err)
		}
	}
}

// each returns the errors of take, peek and refund.
func each(t *testing.T, store ratelimit.Store, charges []ratelimit.Charge) map[string]error {
	t.Helper()
	results := make([]ratelimit.Result, len(charges))
	return map[string]error{
		"take":   store.Take(t.Context(), charges, results),
		"peek":   store.Peek(t.Context(), charges, results),
		"refund": store.Refund(t.Context(), charges),
	}
}

// servers runs a test on a miniredis and on a real server, both empty.
func servers(t *testing.T, test func(t *testing.T, client *redis.Client)) {
	t.Run("miniredis", func(t *testing.T) { test(t, newMini(t).client) })
	t.Run("redis", func(t *testing.T) { test(t, redistest.Client(t)) })
}
