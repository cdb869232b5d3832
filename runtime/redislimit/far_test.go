package redislimit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// Where a server is far away calls need not wait for others, though there are many: it is not busy.
func TestCallsToAServerThatIsFarAway(t *testing.T) {
	const ms, far = time.Millisecond, 20 * time.Millisecond
	inFakeTime(t, func(t *testing.T) {
		client := &fake{do: after(far)}
		p := party{store: redislimit.NewOn(client, nil)}
		p.many(t)
		before := len(client.keysOf())
		for _, pause := range []time.Duration{0, ms / 2, ms / 2, ms, 0, ms, ms} {
			time.Sleep(pause)
			p.call(t.Context(), tb(fmt.Sprint("key-", len(p.errs)), 1))
		}
		p.wg.Wait()
		if got, want := client.keysOf()[before:], []int{1, 2, 1, 2, 1}; !slices.Equal(got, want) {
			t.Errorf("commands of %d keys: want %d", got, want)
		}
		want := []time.Duration{
			far,
			far + ms/2, // goes with the next one, a millisecond after the first
			far,
			far,
			far + ms,
			far,
			far + 4*ms, // 5 ms after the last that departed
		}
		if !slices.Equal(p.took, want) {
			t.Errorf("calls took %v: want %v", p.took, want)
		}
	})
}

// Two round trips are more than a call may take: one that waited for another to land would be late.
func TestRoundTripOfMoreThanHalfTheTimeout(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		p := party{store: redislimit.NewOn(&fake{do: after(80 * time.Millisecond)}, nil)}
		for i := range 200 {
			p.wg.Go(func() {
				for range 5 {
					if took, err := takeOne(t.Context(), p.store, fmt.Sprint(i)); err != nil {
						t.Errorf("took %v: %v", took, err)
					}
				}
			})
		}
		p.wg.Wait()
	})
}

// A server that answers nobody does not get more and more to do.
func TestFlightsToAServerThatIsFarAwayAreBounded(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		p := party{store: redislimit.NewOn(&fake{do: hang}, nil, redislimit.Timeout(time.Second))}
		for i := range 90 {
			p.call(t.Context(), tb(fmt.Sprint(i), 1))
			time.Sleep(6 * time.Millisecond)
		}
		if n := p.store.UnderWay(); n != redislimit.FarFlights {
			t.Errorf("%d exchanges are under way: want %d", n, redislimit.FarFlights)
		}
		p.wg.Wait()
	})
}

// More exchanges than the client has connections would wait for one in vain.
func TestFlightsAreNoMoreThanConnections(t *testing.T) {
	for _, test := range []struct{ pool, want int }{{1, redislimit.MaxFlights}, {10, 10}, {1000, redislimit.FarFlights}} {
		one := redis.NewClient(&redis.Options{PoolSize: test.pool})
		many := redis.NewClusterClient(&redis.ClusterOptions{PoolSize: test.pool})
		ring := redis.NewRing(&redis.RingOptions{PoolSize: test.pool})
		for _, client := range []redis.UniversalClient{one, many, ring} {
			if got := redislimit.New(client).Far(); got != test.want {
				t.Errorf("%T, %d connections: %d exchanges: want %d", client, test.pool, got, test.want)
			}
			_ = client.Close()
		}
	}
}

// Calls for many buckets, or slots, take a server long, so that fewer of them go together. One that is more than that by
// itself goes by itself.
func TestBatchesAreBoundedInWork(t *testing.T) {
	concurrency := func(i int, cost int64) []ratelimit.Charge {
		limit := ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 10_000, Period: time.Minute}
		return []ratelimit.Charge{{Key: fmt.Append(nil, "key-", i), Name: "1m", Limit: limit, Cost: cost, Holder: fmt.Sprint(i)}}
	}
	buckets := func(n int) func(int) []ratelimit.Charge {
		return func(i int) (charges []ratelimit.Charge) {
			for j := range n {
				c := tb(fmt.Sprint("key-", i), 1)[0]
				c.Name = fmt.Sprint(j)
				charges = append(charges, c)
			}
			return charges
		}
	}
	slots := func(cost int64) func(int) []ratelimit.Charge {
		return func(i int) []ratelimit.Charge { return concurrency(i, cost) }
	}
	for _, test := range []struct {
		name  string
		calls int
		call  func(i int) []ratelimit.Charge
		want  []int // the keys of the commands
	}{
		{"three limits", 64, buckets(3), []int{192}},
		{"a hundred limits", 5, buckets(100), []int{200, 200, 100}},
		{"more limits than that", 3, buckets(300), []int{300, 300, 300}},
		{"one slot", 60, slots(1), []int{51, 9}},
		{"a hundred slots", 3, slots(100), []int{1, 1, 1}},
		{"a million slots", 2, slots(1_000_000), []int{1, 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				client := &fake{do: after(10 * time.Millisecond)}
				p := party{store: redislimit.NewOn(client, nil)}
				p.fill(t.Context())
				for i := range test.calls {
					p.call(t.Context(), test.call(i))
				}
				p.wg.Wait()
				if err := errors.Join(p.errs...); err != nil {
					t.Error(err)
				}
				got := client.keysOf()[redislimit.MaxFlights:]
				slices.Sort(got)
				if slices.Reverse(got); !slices.Equal(got, test.want) { // they depart at the same time
					t.Errorf("commands of %d keys: want %d", got, test.want)
				}
			})
		})
	}
}

// What a hook of the client calls cannot wait for what it is called by.
func TestCallByAHook(t *testing.T) {
	for _, timeout := range []time.Duration{100 * time.Millisecond, 0} {
		inFakeTime(t, func(t *testing.T) {
			client := &fake{}
			store := redislimit.NewOn(client, nil, redislimit.Timeout(timeout))
			client.do = func(ctx context.Context, key string) error {
				if strings.HasPrefix(key, "rl:{outer") {
					if took, err := takeOne(ctx, store, "inner"); took != time.Millisecond || err != nil {
						t.Errorf("took %v, error %v: want 1ms, none", took, err)
					}
					return nil
				}
				return away(time.Millisecond)(ctx, key)
			}
			p := party{store: store}
			for i := range 100 {
				p.call(t.Context(), tb(fmt.Sprint("outer-", i), 1))
			}
			p.wg.Wait()
			if err := errors.Join(p.errs...); err != nil {
				t.Error(err)
			}
		})
	}
}
