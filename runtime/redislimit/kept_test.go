package redislimit_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// keeps is a test of what is kept of a bucket.
type keeps struct {
	name    string
	charges func(key string, cost int64) []ratelimit.Charge
	steps   []step
}

// step is one call. Times are as kept writes them.
type step struct {
	pause time.Duration // before the call
	do    string        // take, refuse, look or refund
	cost  int64
	taken string        // when what a refund gives back was taken; "" is just now
	want  string        // what is kept then; "" is no key
	ttl   time.Duration // without what a key lives longer; 0 is as before
}

func keep(t *testing.T, tests []keeps) {
	servers(t, func(t *testing.T, client *redis.Client) {
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) { test.run(t, client) })
		}
	})
}

func (k keeps) run(t *testing.T, client *redis.Client) {
	store, advance := clocked(t, client)
	now := epoch
	var expires int64
	for i, step := range k.steps {
		advance(step.pause)
		now = now.Add(step.pause)
		charges := k.charges("a", step.cost)
		key := keyOf(charges[0])
		if step.do == "refund" {
			charges[0].Taken = timeOf(t, step.taken)
			if err := store.Refund(t.Context(), charges); err != nil {
				t.Fatal(err)
			}
		} else if r := take(t, store, charges); r.Allowed != (step.do != "refuse") || r.At != sinceEpoch(now.Sub(epoch)) {
			t.Errorf("step %d: %s: %+v", i, step.do, r)
		}
		if got := kept(t, client, key); got != step.want {
			t.Errorf("step %d: %s %d: kept is %q: want %q", i, step.do, step.cost, got, step.want)
		}
		at := expiryOf(t, client, key).Milliseconds()
		if step.ttl == 0 && step.want != "" && at != expires {
			t.Errorf("step %d: the key expires at %d instead of %d", i, at, expires)
		}
		if step.ttl != 0 {
			needed := now.Add(step.ttl).UnixMicro()/1000 + 60*365*24*3600*1000 // see ownClock
			if at <= needed || at > needed+slack.Milliseconds() {
				t.Errorf("step %d: the key expires %d ms later than needed: want 1 to %d", i, at-needed, slack.Milliseconds())
			}
		}
		expires = at
	}
}

// kept returns what a key holds, with each second number as "@" and the microseconds since the epoch: the times of a log,
// and the mark of a window.
func kept(t *testing.T, client *redis.Client, key string) string {
	t.Helper()
	var numbers []string
	if client.Type(t.Context(), key).Val() == "string" {
		numbers = strings.Fields(client.Get(t.Context(), key).Val())
	} else {
		numbers = client.LRange(t.Context(), key, 0, -1).Val()
	}
	for i := 1; i < len(numbers); i += 2 {
		at, err := strconv.ParseInt(numbers[i], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		numbers[i] = fmt.Sprintf("@%d", at-epoch.UnixMicro())
	}
	return strings.Join(numbers, " ")
}

// timeOf returns the time that is meant by such an "@", since 1970; 0 for none.
func timeOf(t *testing.T, text string) time.Duration {
	t.Helper()
	if text == "" {
		return 0
	}
	var us int64
	if _, err := fmt.Sscanf(text, "@%d", &us); err != nil {
		t.Fatal(err)
	}
	return sinceEpoch(time.Duration(us) * time.Microsecond)
}
