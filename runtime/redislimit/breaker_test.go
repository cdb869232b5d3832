package redislimit_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// S13: five calls wait for a server that is gone, and from then on one in half a second to a second.
func TestServerIsTakenOffThePath(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		const budget, calls = 100 * time.Millisecond, 1000
		client := &fake{do: hang}
		store := redislimit.NewOn(client, nil)
		fails(t, store, "a", 5, redislimit.KindTimeout)

		took, err := takeOne(t.Context(), store, "a")
		want := `redislimit: take "rl:{a}:tb:1m": redis is off the path of calls: no answer within 100ms`
		if took != 0 || kindOf(err) != redislimit.KindOutage || err.Error() != want {
			t.Errorf("took %v, kind %q, error %v: want at once, %s", took, kindOf(err), err, want)
		}
		if n := client.count(); n != 5 {
			t.Errorf("%d commands were sent: want 5", n)
		}

		// Meanwhile others may call as they like.
		opened := time.Now()
		var tried []time.Duration
		for len(tried) < 3 {
			time.Sleep(time.Millisecond)
			start := time.Now()
			if _, err := takeOne(t.Context(), store, "a"); kindOf(err) == redislimit.KindTimeout {
				tried = append(tried, start.Sub(opened))
				opened = time.Now()
			} else if kindOf(err) != redislimit.KindOutage {
				t.Fatal(err)
			}
		}
		for _, d := range tried {
			if d < 500*time.Millisecond || d > time.Second+2*time.Millisecond {
				t.Errorf("tried again after %v: want half a second to a second", d)
			}
		}

		// One call at a time tries.
		time.Sleep(2 * time.Second)
		client.count()
		var wg sync.WaitGroup
		for range calls {
			wg.Go(func() { _, _ = takeOne(t.Context(), store, "a") })
		}
		wg.Wait()
		if n := client.count(); n != 1 {
			t.Errorf("%d calls tried at the same time: want 1", n)
		}

		// The server is back.
		client.serve(nil)
		back := time.Now()
		for err = errors.New("not yet"); err != nil; _, err = takeOne(t.Context(), store, "a") {
			time.Sleep(time.Millisecond)
		}
		if d := time.Since(back); d > time.Second+budget {
			t.Errorf("it was found after %v", d)
		}
		client.count()
		fails(t, store, "a", calls, "")
		if n := client.count(); n != calls {
			t.Errorf("%d of %d calls were sent", n, calls)
		}
	})
}

// Processes that lose a server at the same time must not come back at the same time.
func TestProcessesComeBackOneByOne(t *testing.T) {
	const processes = 200
	pauses := map[time.Duration]int{}
	for range processes {
		inFakeTime(t, func(t *testing.T) {
			client := &fake{do: failing("LOADING Redis is loading the dataset in memory")}
			store := redislimit.NewOn(client, nil)
			fails(t, store, "a", 5, redislimit.KindLoading)
			opened := time.Now()
			for kind := redislimit.KindOutage; kind == redislimit.KindOutage; {
				time.Sleep(10 * time.Millisecond)
				_, err := takeOne(t.Context(), store, "a")
				kind = kindOf(err)
			}
			pauses[time.Since(opened)]++
		})
	}
	all := slices.Sorted(maps.Keys(pauses))
	if first, last := all[0], all[len(all)-1]; first < 500*time.Millisecond || first > 550*time.Millisecond || last < 950*time.Millisecond || last > 1010*time.Millisecond {
		t.Errorf("the pauses are from %v to %v: want half a second to a second", first, last)
	}
	for pause, n := range pauses {
		if n > processes/10 {
			t.Errorf("%d of %d come back after %v", n, processes, pause)
		}
	}
}

// S04, S16: what is likely to be everybody's trouble takes the server off; one key, slot, caller or right does not.
func TestWhatTakesAServerOff(t *testing.T) {
	tests := []struct {
		name string
		do   func(context.Context, string) error
		kind redislimit.Kind
		off  bool
	}{
		{"connection", func(context.Context, string) error { return errors.New("connection reset by peer") }, "connection", true},
		{"timeout of the client", func(context.Context, string) error { return os.ErrDeadlineExceeded }, "timeout", true},
		{"loading", failing("LOADING Redis is loading the dataset in memory"), "loading", true},
		{"readonly", failing("READONLY You can't write against a read only replica."), "readonly", true},
		{"clusterdown", failing("CLUSTERDOWN Hash slot not served"), "clusterdown", false},
		{"busy", failing("BUSY Redis is busy running a script."), "busy", true},
		{"memory", failing("OOM command not allowed when used memory > 'maxmemory'."), "memory", true},
		{"forbidden", failing("NOAUTH Authentication required."), "forbidden", false},
		{"clock", failing("ERR ratelimit: the server does not know the time"), "clock", true},
		{"foreign", failing("WRONGTYPE Operation against a key holding the wrong kind of value"), "foreign", false},
		{"server", failing("ERR unknown command"), "server", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				client := &fake{do: test.do}
				store := redislimit.NewOn(client, nil)
				fails(t, store, "a", 4, test.kind)
				client.serve(nil)
				fails(t, store, "a", 1, "")
				client.serve(test.do)
				fails(t, store, "a", 5, test.kind) // in a row
				client.serve(nil)
				want := redislimit.Kind("")
				if test.off {
					want = redislimit.KindOutage
				}
				fails(t, store, "a", 1, want)
			})
		})
	}
}

// A caller that has no time, or leaves, tells nothing about the server, unless nobody was answered for a whole budget.
func TestCallersThatLeave(t *testing.T) {
	const ms = time.Millisecond
	canceled := func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(10*ms, cancel)
		return ctx, cancel
	}
	late := func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, 10*ms)
	}
	slow := func(ctx context.Context, _ string) error { // a connection that takes longer than callers wait
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * ms):
			return nil
		}
	}
	tests := []struct {
		name    string
		server  func(context.Context, string) error
		ctx     func(context.Context) (context.Context, context.CancelFunc)
		kind    redislimit.Kind
		after   time.Duration
		patient bool // whether somebody else is answered meanwhile
		off     bool
	}{
		{name: "canceled, while the server answers, only later", server: after(20 * ms), ctx: canceled, kind: "canceled", after: 200 * ms},
		{name: "a deadline, while the server answers, only later", server: after(20 * ms), ctx: late, kind: "timeout", after: 200 * ms},
		{name: "a deadline, while the server answers others", server: slow, ctx: late, kind: "timeout", patient: true, after: 200 * ms},
		{name: "canceled, while the server hangs, for less than the budget", server: hang, ctx: canceled, kind: "canceled", after: 40 * ms},
		{name: "canceled, while the server hangs", server: hang, ctx: canceled, kind: "canceled", after: 200 * ms, off: true},
		{name: "a deadline, while the server hangs", server: hang, ctx: late, kind: "timeout", after: 200 * ms, off: true},
		{name: "a deadline, while the server hangs, and answers others", server: hangFor("rl:{a}:tb:1m"), ctx: late, kind: "timeout", patient: true, after: 200 * ms},
		{name: "a deadline, while the server cannot be reached", server: noRoute, ctx: late, kind: "timeout", after: 200 * ms, off: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				client := &fake{do: test.server}
				store := redislimit.NewOn(client, nil)
				for i := range 5 {
					if i > 0 {
						time.Sleep(40 * ms) // they last long enough to take the server off
					}
					ctx, cancel := test.ctx(t.Context())
					defer cancel()
					if took, err := takeOne(ctx, store, "a"); took != 10*ms || kindOf(err) != test.kind {
						t.Fatalf("took %v, error %v", took, err)
					}
				}
				if test.patient {
					fails(t, store, "b", 1, "")
				}
				time.Sleep(test.after)
				client.serve(nil)
				want := redislimit.Kind("")
				if test.off {
					want = redislimit.KindOutage
				}
				fails(t, store, "a", 1, want)
			})
		})
	}
}

// A call that does something else first leaves its server a little less than the budget, and the next one need not wait.
func TestNearlyTheWholeBudget(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		store := redislimit.NewOn(&fake{do: hang}, nil)
		for range 5 {
			ctx, cancel := context.WithTimeout(t.Context(), 99500*time.Microsecond)
			defer cancel()
			if _, err := takeOne(ctx, store, "a"); kindOf(err) != redislimit.KindTimeout {
				t.Fatal(err)
			}
		}
		fails(t, store, "a", 1, redislimit.KindOutage)
	})
}

// A server that answers, but always too late, stays off the path.
func TestServerThatIsAlwaysLate(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		store := redislimit.NewOn(&fake{do: after(150 * time.Millisecond)}, nil)
		fails(t, store, "a", 5, redislimit.KindTimeout)
		time.Sleep(200 * time.Millisecond)
		fails(t, store, "a", 1, redislimit.KindOutage)
		time.Sleep(time.Second)
		fails(t, store, "a", 1, redislimit.KindTimeout)
		time.Sleep(200 * time.Millisecond)
		fails(t, store, "a", 1, redislimit.KindOutage)
	})
}

// A server that stalls for a moment, as to save its data, or that was started anew, fails all calls that are under way.
func TestMomentOfFailuresIsNoOutage(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		client := &fake{do: after(199 * time.Millisecond)}
		store := redislimit.NewOn(client, nil)
		var calls sync.WaitGroup
		for range 1000 {
			calls.Go(func() { fails(t, store, "a", 1, redislimit.KindTimeout) })
		}
		calls.Wait()
		client.serve(failing("LOADING Redis is loading the dataset in memory"))
		fails(t, store, "a", 1, redislimit.KindLoading)
		time.Sleep(99 * time.Millisecond)
		fails(t, store, "a", 1, redislimit.KindLoading)
		time.Sleep(time.Millisecond)
		fails(t, store, "a", 1, redislimit.KindLoading)
		fails(t, store, "a", 1, redislimit.KindOutage)
	})
}

// In a Cluster, one node that is gone is no reason not to ask the others.
func TestEachServerOfAClusterIsWatchedByItself(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		client := &fake{do: hangFor("rl:{a}:tb:1m")}
		route := func(_ context.Context, key string) (string, error) { return "node of " + key, nil }
		store := redislimit.NewOn(client, route)
		var reloads atomic.Int64
		store.OnReload(func() { reloads.Add(1) })
		fails(t, store, "a", 5, redislimit.KindTimeout)
		_, err := takeOne(t.Context(), store, "a")
		if want := `redislimit: take "rl:{a}:tb:1m": node of rl:{a}:tb:1m is off the path of calls: no answer within 100ms`; err == nil || err.Error() != want {
			t.Errorf("error %v: want %s", err, want)
		}
		fails(t, store, "b", 100, "")
		if n := reloads.Load(); n != 5 {
			t.Errorf("asked %d times where keys live now: want 5, after each failure", n)
		}
	})
}

// While nobody tells where keys live, calls do not wait for that either.
func TestClusterThatCannotBeReached(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		var asked atomic.Int64
		var reachable atomic.Bool
		route := func(ctx context.Context, key string) (string, error) {
			asked.Add(1)
			if !reachable.Load() {
				return "", hang(ctx, key)
			}
			return "node", nil
		}
		client := &fake{}
		store := redislimit.NewOn(client, route)
		fails(t, store, "a", 5, redislimit.KindTimeout)
		fails(t, store, "a", 100, redislimit.KindOutage)
		if n := asked.Swap(0); n != 5 || client.count() != 0 {
			t.Errorf("asked %d times where the key lives: want 5", n)
		}
		reachable.Store(true)
		time.Sleep(time.Second)
		fails(t, store, "a", 100, "")
		if n := asked.Load(); n != 101 { // once in a flight, until it is known that others answer at once
			t.Errorf("asked %d times where the key lives: want 101", n)
		}
	})
}
