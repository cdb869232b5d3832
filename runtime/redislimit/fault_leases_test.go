package redislimit_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// holders are workers of several processes, of which each wants a place to work, and stops working when it loses it.
type holders struct {
	workers sync.WaitGroup
	ending  chan struct{}

	inside  atomic.Int64
	most    atomic.Int64
	worked  atomic.Int64
	lost    atomic.Int64
	undone  atomic.Int64 // calls that could not be decided
	strange atomic.Pointer[error]
}

// hold starts workers. The first of each guard works on and on; the others work for a moment at a time.
func hold(t *testing.T, guards []*ratelimit.Guard) *holders {
	t.Helper()
	const each = 8
	h := &holders{ending: make(chan struct{})}
	for i := range each * len(guards) {
		guard, long := guards[i%len(guards)], i < len(guards)
		h.workers.Go(func() {
			for {
				h.work(t, guard, long)
				select {
				case <-h.ending:
					return
				case <-time.After(10 * time.Millisecond):
				}
			}
		})
		if long {
			eventually(t, func() error {
				if n := h.inside.Load(); n != int64(i+1) {
					return fmt.Errorf("%d work: want %d", n, i+1)
				}
				return nil
			})
		}
	}
	return h
}

// work holds a place, if there is one.
func (h *holders) work(t *testing.T, guard *ratelimit.Guard, long bool) {
	call, err := guard.Begin(t.Context())
	if err != nil {
		if _, ok := errors.AsType[*ratelimit.DecisionError](err); ok {
			h.undone.Add(1)
		} else if !errors.Is(err, ratelimit.ErrLimited) {
			h.strange.Store(&err)
		}
		return
	}
	defer call.End()
	n := h.inside.Add(1)
	for most := h.most.Load(); n > most && !h.most.CompareAndSwap(most, n); most = h.most.Load() {
	}
	var done <-chan time.Time
	if !long {
		done = time.After(30 * time.Millisecond)
	}
	select {
	case <-done:
		h.worked.Add(1)
	case <-h.ending:
	case <-call.Context().Done():
		h.lost.Add(1)
	}
	h.inside.Add(-1)
}

// more waits until some more workers have worked.
func (h *holders) more(t *testing.T, n int64) {
	t.Helper()
	want := h.worked.Load() + n
	eventually(t, func() error {
		if got := h.worked.Load(); got < want {
			return fmt.Errorf("%d have worked: want %d", got, want)
		}
		return nil
	})
}

func (h *holders) end() {
	close(h.ending)
	h.workers.Wait()
}

// leasing is what befalls servers on which leases are kept.
type leasing struct {
	name  string
	lease time.Duration
	begin func(*testing.T) (connect func() redis.UniversalClient, harm, heal func())
	kept  bool // whether those who work on and on keep their places
}

func onServer(do func(*testing.T, *redistest.Instance, *redistest.Proxy) (harm, heal func())) func(*testing.T) (func() redis.UniversalClient, func(), func()) {
	return func(t *testing.T) (func() redis.UniversalClient, func(), func()) {
		server := redistest.Start(t)
		network := redistest.NewProxy(t, server.Addr())
		harm, heal := do(t, server, network)
		// Connections that are half open must not outlast the test.
		return func() redis.UniversalClient {
			return redis.NewClient(&redis.Options{Addr: network.Addr(), ContextTimeoutEnabled: true})
		}, harm, heal
	}
}

// While the server is away longer than a lease lasts, and after it came back, however much it has forgotten, there are
// never more holders than places. A place that nobody holds any more is free again when its lease ends, at the latest.
func TestLeasesWhileTheServerIsAway(t *testing.T) {
	const places, slack, away = 4, time.Second, 1500 * time.Millisecond
	tests := []leasing{
		{"frozen", time.Second, onServer(func(_ *testing.T, s *redistest.Instance, _ *redistest.Proxy) (harm, heal func()) {
			return s.Freeze, s.Thaw
		}), false},
		{"killed, and started again empty", time.Second, onServer(func(_ *testing.T, s *redistest.Instance, _ *redistest.Proxy) (harm, heal func()) {
			return s.Kill, func() { s.Restart() }
		}), false},
		{"behind connections that are half open", time.Second, onServer(func(_ *testing.T, _ *redistest.Instance, p *redistest.Proxy) (harm, heal func()) {
			return p.Silence, p.Forward
		}), false},
		{"frozen for less than a lease", 5 * time.Second, onServer(func(_ *testing.T, s *redistest.Instance, _ *redistest.Proxy) (harm, heal func()) {
			return s.Freeze, s.Thaw
		}), true},
		{"replaced by its replica", 5 * time.Second, func(t *testing.T) (func() redis.UniversalClient, func(), func()) {
			servers := redistest.Sentinel(t)
			return func() redis.UniversalClient { return redis.NewFailoverClient(servers.Options()) }, servers.Master.Kill, func() {}
		}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			connect, harm, heal := test.begin(t)
			limit := ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: places, Period: test.lease}
			var guards []*ratelimit.Guard
			for range 2 {
				client := connect()
				defer func() { _ = client.Close() }()
				limiter, err := ratelimit.New(redislimit.New(client, redislimit.OnOutage(func(redislimit.Outage) {})),
					ratelimit.OnFailure(ratelimit.FailClosed), ratelimit.Observe())
				if err != nil {
					t.Fatal(err)
				}
				guards = append(guards, limiter.Guard("m", ratelimit.Rule{Key: "k", Limit: limit}))
			}
			h := hold(t, guards)
			h.more(t, 20)
			harm()
			time.Sleep(away)
			heal()
			healed := time.Now()
			h.more(t, 1)
			returned := time.Since(healed)
			h.more(t, 20)
			h.end()
			if err := h.strange.Load(); err != nil {
				t.Errorf("error %v: want a LimitError or a DecisionError", *err)
			}

			// Those that took a place and were not told so must not keep it.
			ended := time.Now()
			eventually(t, func() error {
				var calls []*ratelimit.Call
				defer func() {
					for _, call := range calls {
						call.End()
					}
				}()
				for range places {
					call, err := guards[0].Begin(t.Context())
					if err != nil {
						return err
					}
					calls = append(calls, call)
				}
				return nil
			})
			t.Logf("%d holders at most, of %d places; %d worked, %d were told that they lost theirs, %d were not decided; a place is taken %v after the return, and all are free %v later",
				h.most.Load(), places, h.worked.Load(), h.lost.Load(), h.undone.Load(), returned, time.Since(ended))
			if n := h.most.Load(); n > places {
				t.Errorf("%d holders at once: want %d at most", n, places)
			}
			if free := time.Since(healed); free > test.lease+slack+returned {
				t.Errorf("all places are free %v after the return: want a lease of %v at most", free, test.lease)
			}
			if n := h.lost.Load(); test.kept != (n == 0) {
				t.Errorf("%d holders were told that they lost their places: want that only if it lasts longer than a lease", n)
			}
		})
	}
}

// A server that comes back empty before the leases of its holders have ended gives their places away again. They are told
// when they next renew their leases, of which a third has passed by then.
func TestLeasesThatTheServerForgot(t *testing.T) {
	const places, lease, slack = 4, 1500 * time.Millisecond, time.Second
	server := redistest.Client(t)
	limiter, err := ratelimit.New(redislimit.NewPatient(server), ratelimit.Observe())
	if err != nil {
		t.Fatal(err)
	}
	limit := ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: places, Period: lease}
	guard := limiter.Guard("m", ratelimit.Rule{Key: "k", Limit: limit})
	var before []*ratelimit.Call
	for range places {
		before = append(before, begin(t, guard, t.Context()))
	}
	forgot := time.Now()
	if err := server.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	for range places {
		defer begin(t, guard, t.Context()).End()
	}
	for _, call := range before {
		<-call.Context().Done()
		if err := context.Cause(call.Context()); !errors.Is(err, ratelimit.ErrLeaseLost) {
			t.Errorf("the call ends with %v: want %v", err, ratelimit.ErrLeaseLost)
		}
		call.End()
	}
	if told := time.Since(forgot); told > lease/3+slack {
		t.Errorf("the holders of before were told after %v: want %v", told, lease/3)
	}
}
