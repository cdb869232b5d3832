package redislimit_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// held returns a guard of calls that hold a slot of a server, as another process would make it.
func held(t *testing.T, client *redis.Client, slots int64, lease time.Duration, opts ...ratelimit.Option) *ratelimit.Guard {
	t.Helper()
	limiter, err := ratelimit.New(redislimit.NewPatient(client), opts...)
	if err != nil {
		t.Fatal(err)
	}
	limit := ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: slots, Period: lease}
	return limiter.Guard("m", ratelimit.Rule{Key: "a", Name: "slots", Limit: limit})
}

// begin begins a call that must be allowed.
func begin(t *testing.T, guard *ratelimit.Guard, ctx context.Context) *ratelimit.Call {
	t.Helper()
	call, err := guard.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return call
}

// refuses checks that a call is refused, with that error.
func refuses(t *testing.T, guard *ratelimit.Guard, want string) {
	t.Helper()
	call, err := guard.Begin(t.Context())
	if err == nil {
		call.End()
	}
	if err == nil || err.Error() != want {
		t.Errorf("error %v: want %s", err, want)
	}
}

// C01: a process that is killed says nothing to the server.
func TestSlotsOfAKilledProcess(t *testing.T) {
	const variable = "RATELIMIT_TEST_HOLD"
	if addr := os.Getenv(variable); addr != "" { // this is that process
		guard := held(t, redis.NewClient(&redis.Options{Addr: addr}), 2, 30*time.Second)
		begin(t, guard, t.Context())
		begin(t, guard, t.Context())
		fmt.Println("held")
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed, or the test is gone
		return
	}

	server := newMini(t)
	process := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	process.Env = append(os.Environ(), variable+"="+server.Addr())
	in, err := process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_ = process.Process.Kill()
	_ = process.Wait()
	if line != "held\n" {
		t.Fatalf("the process said %q, error %v", line, err)
	}

	guard := held(t, server.client, 2, 30*time.Second)
	server.advance(29_900 * time.Millisecond)
	refuses(t, guard, "m: rate limit exceeded: limit slots has all slots taken: the next lease ends in 100ms")
	server.advance(200 * time.Millisecond)
	defer begin(t, guard, t.Context()).End()
	defer begin(t, guard, t.Context()).End()
	refuses(t, guard, "m: rate limit exceeded: limit slots has all slots taken: the next lease ends in 30s")
}

// C05: keys of slots that nobody holds any more go, also those that were emptied and came back.
func TestKeysOfSlotsThatNobodyHoldsGo(t *testing.T) {
	const names, lease = 1000, 5 * time.Second
	server := newMini(t)
	store := redislimit.NewPatient(server.client)
	slot := func(name int) []ratelimit.Charge {
		charges := cc(fmt.Sprint(name), 1, "ann")
		charges[0].Limit.Period = lease
		return charges
	}
	for name := range names {
		take(t, store, slot(name))
		if name%2 == 0 {
			continue
		}
		if err := store.Refund(t.Context(), slot(name)); err != nil {
			t.Fatal(err)
		}
		if name == 1 {
			take(t, store, slot(name))
		}
	}
	keys := server.Keys()
	if len(keys) != names/2+1 {
		t.Errorf("%d keys: want %d", len(keys), names/2+1)
	}
	for _, key := range keys {
		if ttl := server.TTL(key); ttl <= 0 || ttl > lease+slack {
			t.Errorf("%s lives for %v: want %v and no more than %v longer", key, ttl, lease, slack)
		}
	}
	server.advance(2 * lease)
	if keys := server.Keys(); len(keys) != 0 {
		t.Errorf("keys %q are left", keys)
	}
}

// C06, C07: what the server holds is who has slots, for all processes, however soon they come one after the other.
func TestOneSlotForTwoProcesses(t *testing.T) {
	const rounds = 100
	options := redistest.Server(t)
	var guards []*ratelimit.Guard
	for range 2 {
		client := redis.NewClient(options)
		defer func() { _ = client.Close() }()
		guards = append(guards, held(t, client, 1, time.Minute))
	}
	for round := range rounds {
		var admitted atomic.Int64
		var wg sync.WaitGroup
		calls := make([]*ratelimit.Call, len(guards))
		for i, guard := range guards {
			wg.Go(func() {
				if call, err := guard.Begin(t.Context()); err == nil {
					calls[i] = call
					admitted.Add(1)
				}
			})
		}
		wg.Wait()
		if n := admitted.Load(); n != 1 {
			t.Fatalf("round %d: %d calls hold the one slot", round, n)
		}
		for _, call := range calls {
			if call != nil {
				call.End()
			}
		}
	}
}

// observe is an Observer of troubles.
type observe func(e *ratelimit.Event)

func (o observe) Observe(_ context.Context, e *ratelimit.Event) {
	if e.Kind == ratelimit.EventTrouble {
		o(e)
	}
}

// C09: what a call has returned stands, and its slot comes back by itself.
func TestReleaseWhileTheServerIsAway(t *testing.T) {
	server := newMini(t)
	var told []string
	guard := held(t, server.client, 1, 5*time.Second, ratelimit.Observe(observe(func(e *ratelimit.Event) {
		told = append(told, e.Method+": "+e.Err.Error())
	})))
	call := begin(t, guard, t.Context())
	server.Close()
	call.End()
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || !strings.HasPrefix(told[0], `m: redislimit: refund "rl:{a}:cc:slots": `) {
		t.Errorf("told %q: want the release that failed", told)
	}
	server.advance(5*time.Second - time.Microsecond)
	refuses(t, guard, "m: rate limit exceeded: limit slots has all slots taken: the next lease ends in 1µs")
	server.advance(time.Microsecond)
	begin(t, guard, t.Context()).End()
}

// C11: only the server's clock says whose lease has ended, however far from it those of the clients are.
func TestLeasesGoByTheServersClock(t *testing.T) {
	for _, ahead := range []time.Duration{-5 * time.Minute, 5 * time.Minute} {
		server := newMini(t)
		server.now = time.Now().Add(ahead)
		server.SetTime(server.now)
		store := redislimit.NewPatient(server.client)
		take(t, store, cc("a", 5, "ann"))
		steps := []struct {
			pause time.Duration
			retry time.Duration
		}{{0, time.Minute}, {59 * time.Second, time.Second}, {2 * time.Second, 0}}
		for _, step := range steps {
			server.advance(step.pause)
			if r := take(t, store, cc("a", 1, "bob")); r.RetryAfter != step.retry || r.Allowed != (step.retry == 0) {
				t.Errorf("server %v ahead, %v later: %+v: want retry after %v", ahead, step.pause, r, step.retry)
			}
		}
	}
}

// C14: the release is sent although the caller has gone.
func TestSlotOfACancelledCallIsReleased(t *testing.T) {
	server := newMini(t)
	guard := held(t, server.client, 1, time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	call := begin(t, guard, ctx)
	cancel()
	call.End()
	if keys := server.Keys(); len(keys) != 0 {
		t.Errorf("keys %q are left", keys)
	}
}
