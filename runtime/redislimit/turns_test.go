package redislimit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimitgen/ratelimitgen/internal/redistest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/redislimit"
)

// A bucket in debt is kept as any other: more is out than it holds.
func TestTextsOfBucketsInDebt(t *testing.T) {
	servers(t, func(t *testing.T, client *redis.Client) {
		store, advance := clocked(t, client)
		interval := tb("interval", 1)
		interval[0].Limit.Refill = ratelimit.Interval
		at := epoch.UnixMicro()
		for _, test := range []struct {
			charges       []ratelimit.Charge
			delay         time.Duration // of three units above five, five a minute
			debt, gaveWay string        // gaveWay when those three give up after a second
		}{
			{tb("greedy", 1), 36 * time.Second, fmt.Sprintf("8 %d 0", at), fmt.Sprintf("5 %d 5000000", at+1_000_000)},
			{interval, time.Minute, fmt.Sprintf("8 %d 0", at), fmt.Sprintf("5 %d 0", at)},
			{lb("leaky", 1), 36 * time.Second, fmt.Sprintf("%d", at+96_000_000), fmt.Sprintf("%d", at+60_000_000)},
		} {
			key := keyOf(test.charges[0])
			test.charges[0].Cost, test.charges[0].Wait = 5, time.Minute
			take(t, store, test.charges)
			test.charges[0].Cost = 3
			want := ratelimit.Result{Allowed: true, Limit: 5, ResetAfter: time.Minute + test.delay, Delay: test.delay, At: sinceEpoch(0)}
			if test.delay == time.Minute { // two intervals
				want.ResetAfter = 2 * time.Minute
			}
			if r := take(t, store, test.charges); r != want {
				t.Errorf("%s: got %+v, want %+v", key, r, want)
			}
			if got := client.Get(t.Context(), key).Val(); got != test.debt {
				t.Errorf("%s holds %q in debt: want %q", key, got, test.debt)
			}
			advance(time.Second)
			test.charges[0].Delay = test.delay - time.Second
			if err := store.Refund(t.Context(), test.charges); err != nil {
				t.Fatal(err)
			}
			if got := client.Get(t.Context(), key).Val(); got != test.gaveWay {
				t.Errorf("%s holds %q after the three gave up: want %q", key, got, test.gaveWay)
			}
			advance(-time.Second)
		}
	})
}

// The largest debt, too, is one piece with its header, and is believed.
func TestLargestDebt(t *testing.T) {
	client := redistest.Client(t)
	store := redislimit.NewPatient(client)
	limit := ratelimit.Limit{Count: 1_000_000_000, Period: 5 * time.Hour}
	c := ratelimit.Charge{Key: []byte("large"), Name: "5h", Limit: limit, Cost: 1_000_000_000, Wait: limit.Period}
	for i, want := range []time.Duration{0, limit.Period} {
		r := take(t, store, []ratelimit.Charge{c})
		if !r.Allowed || r.Delay < want-time.Second || r.Delay > want {
			t.Errorf("call %d: %+v: want a delay of about %v", i, r, want)
		}
	}
	c.Cost = 1
	if r := take(t, store, []ratelimit.Charge{c}); !r.Allowed || r.Delay < limit.Period-time.Minute {
		t.Errorf("what has come back is not to be had: %+v", r)
	}
	isOnePiece(t, client, keyOf(c))
}
