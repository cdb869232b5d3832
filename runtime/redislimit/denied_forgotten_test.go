package redislimit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// What is done through the Store to a bucket that has refused is known at once, but of a refund that was lost, for which
// Redis is asked as long as it may come.
func TestRefusalIsForgotten(t *testing.T) {
	server := miniredis.RunT(t)
	limit := ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 5, Period: time.Hour}
	charge := func(cost int64) []ratelimit.Charge {
		return []ratelimit.Charge{{Key: []byte("a"), Name: "1h", Limit: limit, Cost: cost}}
	}
	for _, test := range []struct {
		name string
		do   func(ctx context.Context, store *redislimit.Store, client *redis.Client) error
		want ratelimit.Result // of a call for three units, less the time
	}{
		{"nothing", func(context.Context, *redislimit.Store, *redis.Client) error { return nil }, ratelimit.Result{Limit: 5, Remaining: 2, RetryAfter: time.Hour}},
		{"refund", func(ctx context.Context, store *redislimit.Store, _ *redis.Client) error {
			return store.Refund(ctx, charge(1))
		}, ratelimit.Result{Allowed: true, Limit: 5, Remaining: 0}},
		{"reset", func(ctx context.Context, store *redislimit.Store, _ *redis.Client) error {
			return store.Reset(ctx, charge(0))
		}, ratelimit.Result{Allowed: true, Limit: 5, Remaining: 2}},
		{"cheaper call", func(ctx context.Context, store *redislimit.Store, _ *redis.Client) error {
			return store.Take(ctx, charge(1), make([]ratelimit.Result, 1))
		}, ratelimit.Result{Limit: 5, Remaining: 1, RetryAfter: time.Hour}},
		{"lost refund", func(ctx context.Context, store *redislimit.Store, client *redis.Client) error {
			cut := true
			client.AddHook(&intercept{answer: func(redis.Cmder) (bool, error) { return cut, net.ErrClosed }})
			if err := store.Refund(ctx, charge(1)); kindOf(err) != redislimit.KindConnection {
				return fmt.Errorf("the refund was not lost: %w", err)
			}
			cut = false
			if err := store.Take(ctx, charge(3), make([]ratelimit.Result, 1)); err != nil { // is not remembered
				return err
			}
			return redislimit.NewPatient(client).Refund(ctx, charge(1)) // comes late
		}, ratelimit.Result{Allowed: true, Limit: 5, Remaining: 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			server.FlushAll()
			inStep(t, server, func(t *testing.T, client *redis.Client, _ func() int) {
				store := redislimit.New(client)
				warm(t, store)
				take(t, store, charge(3))
				time.Sleep(time.Microsecond)
				take(t, store, charge(3))
				time.Sleep(time.Microsecond)
				if err := test.do(t.Context(), store, client); err != nil {
					t.Fatal(err)
				}
				got := take(t, store, charge(3))
				got.At, got.ResetAfter = 0, 0
				if !got.Allowed {
					got.RetryAfter += 2 * time.Microsecond
				}
				if got != test.want {
					t.Errorf("result is %+v: want %+v", got, test.want)
				}
			})
		})
	}
}

// What a process took in advance and gives back is there for others, also for those who have been refused for it.
func TestNobodyIsRefusedForUnitsThatLayElsewhere(t *testing.T) {
	server := miniredis.RunT(t)
	inStep(t, server, func(t *testing.T, client *redis.Client, _ func() int) {
		rule := ratelimit.Rule{
			Name: "1h", Key: "a", Limit: ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Count: 5, Period: time.Hour}, Cost: 1, Prefetch: 5,
		}
		var limiters []*ratelimit.Limiter
		var guards []*ratelimit.Guard
		for range 2 {
			store := redislimit.New(client)
			warm(t, store)
			limiter, err := ratelimit.New(store)
			if err != nil {
				t.Fatal(err)
			}
			limiters, guards = append(limiters, limiter), append(guards, limiter.Guard("m", rule))
		}
		if err := guards[0].Allow(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := guards[1].Allow(t.Context()); !errors.Is(err, ratelimit.ErrLimited) {
			t.Fatalf("while all units lie elsewhere the error is %v", err)
		}
		if err := limiters[0].Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := guards[1].Allow(t.Context()); err != nil {
			t.Errorf("when they have come back the error is %v", err)
		}
		for _, l := range limiters {
			_ = l.Close(t.Context())
		}
	})
}

// Who gives back is followed by somebody who takes, however many are refused from memory meanwhile: no refusal of before
// outlives the refund. It is in real time, as it is about races.
func TestNobodyIsRefusedForAUnitThatIsBack(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr()})
	defer func() { _ = client.Close() }()
	store := redislimit.NewPatient(client)
	warm(t, store)
	charges := []ratelimit.Charge{{Key: []byte("a"), Name: "1h", Limit: ratelimit.Limit{Count: 1, Period: time.Hour}, Cost: 1}}
	var admitted, refused atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			results := make([]ratelimit.Result, 1)
			for admitted.Load() < 100 && t.Context().Err() == nil {
				if err := store.Take(t.Context(), charges, results); err != nil {
					t.Error(err)
					return
				}
				if !results[0].Allowed {
					refused.Add(1)
					runtime.Gosched()
					continue
				}
				admitted.Add(1)
				var err error
				if rand.IntN(2) == 0 {
					err = store.Refund(t.Context(), charges)
				} else {
					err = store.Reset(t.Context(), charges)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d calls were refused", refused.Load())
}

// With a lower capacity a bucket keeps less of what is out. So a call by another limit may have emptied it when the reply to a
// refusal comes that was asked for before.
func TestRefusalThatIsOvertakenByAnotherLimit(t *testing.T) {
	server := miniredis.RunT(t)
	inStep(t, server, func(t *testing.T, client *redis.Client, _ func() int) {
		var late atomic.Bool
		client.AddHook(&lateReply{&late})
		store := redislimit.New(client, redislimit.Timeout(time.Minute))
		warm(t, store)
		high, low := tb("a", 10), tb("a", 1)
		high[0].Limit = ratelimit.Limit{Count: 10, Burst: 10, Period: 10 * time.Second}
		low[0].Limit = ratelimit.Limit{Count: 10, Burst: 5, Period: 10 * time.Second}
		if r := take(t, store, high); !r.Allowed {
			t.Fatalf("%+v", r)
		}
		time.Sleep(time.Second)
		half := slices.Clone(high)
		half[0].Cost = 5
		late.Store(true)
		var wg sync.WaitGroup
		wg.Go(func() {
			if r := take(t, store, half); r.Allowed {
				t.Errorf("%+v: want it refused", r)
			}
		})
		time.Sleep(time.Millisecond)
		late.Store(false)
		if r := take(t, store, low); !r.Allowed {
			t.Errorf("%+v: want it allowed", r)
		}
		wg.Wait()
		if r := take(t, store, half); !r.Allowed {
			t.Errorf("%+v: want it allowed, as there are five left", r)
		}
	})
}

// lateReply is a hook that has replies come late to commands that are sent while it is on.
type lateReply struct{ on *atomic.Bool }

func (l *lateReply) DialHook(next redis.DialHook) redis.DialHook { return next }
func (l *lateReply) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (l *lateReply) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		late := l.on.Load()
		err := next(ctx, cmd)
		if late {
			time.Sleep(100 * time.Millisecond)
		}
		return err
	}
}
