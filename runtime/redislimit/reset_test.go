package redislimit_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// many returns a charge of each of so many keys.
func many(n int) []ratelimit.Charge {
	var charges []ratelimit.Charge
	for i := range n {
		charges = append(charges, tb(fmt.Sprint(i), 1)...)
	}
	return charges
}

// Thousands of buckets of a server that is well are reset within the time of a call, also where it is 20 ms away.
func TestResetOfThousandsOfBuckets(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		client := &fake{do: after(20 * time.Millisecond)}
		start := time.Now()
		err := redislimit.NewOn(client, nil).Reset(t.Context(), many(5000))
		if took, n := time.Since(start), client.count(); err != nil || took != 20*time.Millisecond || n != 50 {
			t.Errorf("took %v and %d commands, error %v: want 20ms, 50 commands", took, n, err)
		}
	})
}

// Those that a command removes are all that were asked for, and no others.
func TestResetRemovesEachBucketOnce(t *testing.T) {
	servers(t, func(t *testing.T, client *redis.Client) {
		store := redislimit.NewPatient(client)
		charges := many(250)
		for i := range charges {
			take(t, store, charges[i:i+1])
		}
		if err := store.Reset(t.Context(), charges[:249]); err != nil {
			t.Fatal(err)
		}
		if keys := client.Keys(t.Context(), "rl:*").Val(); len(keys) != 1 || keys[0] != keyOf(charges[249]) {
			t.Errorf("left are %q: want %s", keys, keyOf(charges[249]))
		}
	})
}

// S15: when the time is up nothing more is sent. Thousands of buckets that fail for one reason are one line, which names a
// few, be they on one server or on many.
func TestResetOfAServerThatHangs(t *testing.T) {
	for name, route := range map[string]func(context.Context, string) (string, error){
		"one server": nil,
		"shards":     func(context.Context, string) (string, error) { return "shard", nil },
	} {
		t.Run(name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				client := &fake{do: hang}
				charges := many(6500)
				err := redislimit.NewOn(client, route).Reset(t.Context(), charges)
				const want = `redislimit: reset "rl:{0}:tb:1m", "rl:{1}:tb:1m", "rl:{2}:tb:1m", "rl:{3}:tb:1m", "rl:{4}:tb:1m", ` +
					`"rl:{5}:tb:1m", "rl:{6}:tb:1m", "rl:{7}:tb:1m" and 6492 more: no answer within 100ms`
				if err == nil || err.Error() != want {
					t.Errorf("error %.1000v: want %s", err, want)
				}
				if e, ok := errors.AsType[*redislimit.Error](err); !ok || len(e.Keys) != len(charges) {
					t.Errorf("the error has not all keys")
				}
				time.Sleep(time.Millisecond) // nor is anything about to be
				if n := client.count(); n != 64 {
					t.Errorf("%d commands were sent: want 64, which is how many are on their way at the same time", n)
				}
			})
		})
	}
}
