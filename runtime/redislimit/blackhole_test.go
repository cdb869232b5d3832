package redislimit_test

import (
	"context"
	"errors"
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// blackHole listens and never answers. It returns its address, and counts those who come.
func blackHole(t *testing.T, came *atomic.Int64) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			came.Add(1)
			defer func() { _ = conn.Close() }()
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		wg.Wait()
	})
	return listener.Addr().String()
}

// lateness tells, after a while, by how much a timer was late at most: the machine may be busy with others.
func lateness(d time.Duration) <-chan time.Duration {
	late := make(chan time.Duration, 1)
	go func() {
		const every = 5 * time.Millisecond
		var worst time.Duration
		for end := time.Now().Add(d); time.Now().Before(end); {
			start := time.Now()
			time.Sleep(every)
			worst = max(worst, time.Since(start)-every)
		}
		late <- worst
	}()
	return late
}

// S13: 200 callers in front of a server that accepts and never answers wait twice the budget at most, and most of them
// not at all. What they have left ends by the client's own timeout, of which the default would make a long test.
func TestBlackHole(t *testing.T) {
	const (
		callers = 200
		budget  = 50 * time.Millisecond
		lasts   = 1500 * time.Millisecond
	)
	var came atomic.Int64
	client := redis.NewClient(&redis.Options{Addr: blackHole(t, &came), ReadTimeout: time.Second})
	defer func() { _ = client.Close() }()
	var outages atomic.Int64
	store := redislimit.New(client, redislimit.Timeout(budget), redislimit.OnOutage(func(redislimit.Outage) { outages.Add(1) }))
	limiter, err := ratelimit.New(store, ratelimit.OnFailure(ratelimit.FailOpen))
	if err != nil {
		t.Fatal(err)
	}
	guard := limiter.Guard("m", ratelimit.Rule{Key: "k", Limit: ratelimit.Limit{Count: 1, Period: time.Hour}})

	before := runtime.NumGoroutine()
	var mu sync.Mutex
	var took []time.Duration
	var wg sync.WaitGroup
	late := lateness(lasts)
	end := time.Now().Add(lasts)
	for range callers {
		wg.Go(func() {
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for ; time.Now().Before(end); <-tick.C {
				start := time.Now()
				if err := guard.Allow(t.Context()); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				took = append(took, time.Since(start))
				mu.Unlock()
			}
		})
	}
	wg.Wait()

	slices.Sort(took)
	median, p99, most := took[len(took)/2], took[len(took)*99/100], 2*budget+<-late
	t.Logf("%d calls: median %v, p99 %v, longest %v; %d connections", len(took), median, p99, took[len(took)-1], came.Load())
	if median > time.Millisecond || p99 > most {
		t.Errorf("calls took %v in the median and %v at p99: want 1ms and %v at most", median, p99, most)
	}
	if n := outages.Load(); n != 1 {
		t.Errorf("%d outages were reported: want 1", n)
	}
	for deadline := time.Now().Add(time.Second); runtime.NumGoroutine() > before+10; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("%d goroutines have become %d", before, runtime.NumGoroutine())
			break
		}
	}
}

// S15: whatever a client does to find its server, it does not hold up the call.
func TestBlackHoleOfEachTopology(t *testing.T) {
	var came atomic.Int64
	addrs := []string{blackHole(t, &came), blackHole(t, &came)}
	const timeout = 300 * time.Millisecond // of the client, so that the test is short
	clients := map[string]redis.UniversalClient{
		"single":   redis.NewClient(&redis.Options{Addr: addrs[0], ReadTimeout: timeout}),
		"sentinel": redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "m", SentinelAddrs: addrs, ReadTimeout: timeout}),
		"cluster":  redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs, ReadTimeout: timeout}),
		"ring":     redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"one": addrs[0], "two": addrs[1]}, ReadTimeout: timeout}),
	}
	for name, client := range clients {
		t.Run(name, func(t *testing.T) {
			defer func() { _ = client.Close() }()
			for _, test := range []struct{ deadline, most time.Duration }{
				{25 * time.Millisecond, 25 * time.Millisecond},
				{time.Hour, 100 * time.Millisecond}, // which is the budget
			} {
				late := lateness(200 * time.Millisecond)
				start := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), test.deadline)
				defer cancel()
				_, err := takeOne(ctx, redislimit.New(client), "a")
				took := time.Since(start)
				if most := test.most + 20*time.Millisecond + <-late; took < test.most || took > most {
					t.Errorf("a deadline of %v: took %v: want %v to %v", test.deadline, took, test.most, most)
				}
				if own := errors.Is(err, context.DeadlineExceeded); kindOf(err) != redislimit.KindTimeout || own != (test.deadline < time.Second) {
					t.Errorf("a deadline of %v: error %v", test.deadline, err)
				}
			}
		})
	}
	if came.Load() == 0 {
		t.Error("nobody has asked: the test shows nothing")
	}
}
