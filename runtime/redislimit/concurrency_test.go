package redislimit_test

import (
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

// leased is a charge with a lease of half a minute.
func leased(key string, cost int64, holder string) []ratelimit.Charge {
	limit := ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 5, Period: 30 * time.Second}
	return []ratelimit.Charge{{Key: []byte(key), Name: "30s", Limit: limit, Cost: cost, Holder: holder}}
}

// leases returns what is kept of a concurrency limit, with times as microseconds since the epoch, earliest first.
func leases(t *testing.T, client *redis.Client, key string) string {
	t.Helper()
	members, err := client.ZRangeWithScores(t.Context(), key, 0, -1).Result()
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, m := range members {
		texts = append(texts, fmt.Sprintf("%s@%d", m.Member, int64(m.Score)-epoch.UnixMicro()))
	}
	return strings.Join(texts, ", ")
}

// renew fails the test unless the charges are answered, and returns which leases were held.
func renew(t *testing.T, store *redislimit.Store, charges []ratelimit.Charge) []bool {
	t.Helper()
	held := make([]bool, len(charges))
	if err := store.Renew(t.Context(), charges, held); err != nil {
		t.Fatal(err)
	}
	return held
}

func TestWhatLeasesHold(t *testing.T) {
	type step struct {
		pause  time.Duration
		do     string // take, refuse, refund, lost, renew or gone
		holder string
		cost   int64
		want   string
		ttl    time.Duration // without what a key lives longer; 0 is as before
	}
	const s, lease = time.Second, 30 * time.Second
	tests := []struct {
		name  string
		steps []step
	}{
		{"a member a slot", []step{
			{0, "take", "ann", 1, "ann@30000000", lease},
			{s, "take", "bob", 3, "ann@30000000, 2 bob@31000000, 3 bob@31000000, bob@31000000", lease},
			{s, "refuse", "cid", 2, "ann@30000000, 2 bob@31000000, 3 bob@31000000, bob@31000000", 0},
			{0, "refund", "bob", 3, "ann@30000000", 28 * s},
			{0, "refund", "ann", 1, "", 0},
		}},
		{"a holder that takes again takes nothing more", []step{
			{0, "take", "ann", 2, "2 ann@30000000, ann@30000000", lease},
			{s, "take", "ann", 1, "2 ann@30000000, ann@31000000", lease},
			{s, "take", "ann", 5, "2 ann@32000000, 3 ann@32000000, 4 ann@32000000, 5 ann@32000000, ann@32000000", lease},
			{s, "take", "ann", 5, "2 ann@33000000, 3 ann@33000000, 4 ann@33000000, 5 ann@33000000, ann@33000000", lease},
		}},
		{"C01: a holder that is gone loses its slots", []step{
			{0, "take", "ann", 1, "ann@30000000", lease},
			{s, "take", "bob", 1, "ann@30000000, bob@31000000", lease},
			{29 * s, "take", "cid", 1, "bob@31000000, cid@60000000", lease},
		}},
		{"C02: nobody gives back what is another's", []step{
			{0, "take", "ann", 2, "2 ann@30000000, ann@30000000", lease},
			{s, "lost", "bob", 2, "2 ann@30000000, ann@30000000", 0},
			{0, "lost", "an", 1, "2 ann@30000000, ann@30000000", 0},
			{0, "gone", "bob", 1, "2 ann@30000000, ann@30000000", 0},
			{0, "gone", "ann", 3, "2 ann@30000000, ann@30000000", 0},
		}},
		{"C03, C10, C13: what is lost is told, and is not revived", []step{
			{0, "take", "ann", 1, "ann@30000000", lease},
			{10 * s, "renew", "ann", 1, "ann@40000000", lease},
			{29 * s, "take", "bob", 1, "ann@40000000, bob@69000000", lease},
			{s, "gone", "ann", 1, "ann@40000000, bob@69000000", 0},
			{0, "lost", "ann", 1, "ann@40000000, bob@69000000", 0},
			{0, "take", "ann", 1, "bob@69000000, ann@70000000", lease},
			{0, "refund", "ann", 1, "bob@69000000", 29 * s},
			{0, "lost", "ann", 1, "bob@69000000", 0},
		}},
		{"a renewal of a part", []step{
			{0, "take", "ann", 3, "2 ann@30000000, 3 ann@30000000, ann@30000000", lease},
			{s, "renew", "ann", 2, "3 ann@30000000, 2 ann@31000000, ann@31000000", lease},
			{0, "refund", "ann", 1, "3 ann@30000000, 2 ann@31000000", lease},
			{0, "gone", "ann", 3, "3 ann@30000000, 2 ann@31000000", 0},
			{0, "refund", "ann", 100, "", 0},
		}},
		{"slots beyond those that are asked for", []step{
			{0, "take", "ann", 4, "2 ann@30000000, 3 ann@30000000, 4 ann@30000000, ann@30000000", lease},
			{0, "refund", "ann", 2, "3 ann@30000000, 4 ann@30000000", lease},
			{0, "refund", "ann", 3, "4 ann@30000000", lease}, // three are more than there are
			{30 * s, "lost", "ann", 5, "4 ann@30000000", 0},
		}},
		{"a clock that was set back makes leases last longer", []step{
			{0, "take", "ann", 1, "ann@30000000", lease},
			{-10 * s, "refuse", "bob", 5, "ann@30000000", 40 * s},
			{s, "take", "bob", 1, "bob@21000000, ann@30000000", 39 * s},
			{s, "renew", "ann", 1, "bob@21000000, ann@22000000", 0},
		}},
	}
	servers(t, func(t *testing.T, client *redis.Client) {
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				store, advance := clocked(t, client)
				const key = "rl:{a}:cc:30s"
				now := epoch
				var expires time.Duration
				for i, step := range test.steps {
					advance(step.pause)
					now = now.Add(step.pause)
					charges := leased("a", step.cost, step.holder)
					switch step.do {
					case "take", "refuse":
						if r := take(t, store, charges); r.Allowed != (step.do == "take") {
							t.Errorf("step %d: %s: %+v", i, step.do, r)
						}
					case "refund", "lost":
						if err := store.Refund(t.Context(), charges); errors.Is(err, ratelimit.ErrLeaseLost) != (step.do == "lost") {
							t.Errorf("step %d: %s: error %v", i, step.do, err)
						}
					case "renew", "gone":
						if held := renew(t, store, charges); held[0] != (step.do == "renew") {
							t.Errorf("step %d: %s: %v", i, step.do, held)
						}
					}
					if got := leases(t, client, key); got != step.want {
						t.Errorf("step %d: %s %s %d: leases are %q: want %q", i, step.do, step.holder, step.cost, got, step.want)
					}
					at := lifetime(t, client, key, now)
					if step.ttl == 0 {
						step.ttl = expires - step.pause
					}
					if step.want != "" && (at < step.ttl+time.Millisecond || at > step.ttl+slack) {
						t.Errorf("step %d: the key lives for %v: want %v and 1 ms to %v more", i, at, step.ttl, slack)
					}
					expires = step.ttl
				}
			})
		}
	})
}

// lifetime returns how long a key of a clocked Store lives.
func lifetime(t *testing.T, client *redis.Client, key string, now time.Time) time.Duration {
	t.Helper()
	const later = 60 * 365 * 24 * time.Hour // see ownClock
	return expiryOf(t, client, key) - later - time.Duration(now.UnixMilli())*time.Millisecond
}

// One call may renew the leases of many holders of a bucket, and what one has lost is no loss to the others.
func TestRenewalOfManyHolders(t *testing.T) {
	servers(t, func(t *testing.T, client *redis.Client) {
		store, advance := clocked(t, client)
		take(t, store, leased("a", 1, "ann"))
		take(t, store, leased("a", 2, "bob"))
		take(t, store, leased("b", 1, "ann"))
		advance(time.Second)
		all := slices.Concat(leased("a", 1, "ann"), leased("a", 1, "cid"), leased("a", 2, "bob"), leased("b", 1, "ann"), leased("a", 0, "bob"))
		if held := renew(t, store, all); !slices.Equal(held, []bool{true, false, true, true, true}) {
			t.Errorf("held %v", held)
		}
		if got, want := leases(t, client, "rl:{a}:cc:30s"), "2 bob@31000000, ann@31000000, bob@31000000"; got != want {
			t.Errorf("leases are %q: want %q", got, want)
		}
		if got, want := leases(t, client, "rl:{b}:cc:30s"), "ann@31000000"; got != want {
			t.Errorf("leases are %q: want %q", got, want)
		}
	})
}

// A lease is what its holder was promised: a limit that was made shorter neither ends it nor lets its key expire.
func TestShorterLeaseBesideALongerOne(t *testing.T) {
	servers(t, func(t *testing.T, client *redis.Client) {
		store, _ := clocked(t, client)
		long, short := leased("a", 1, "ann"), leased("a", 1, "bob")
		short[0].Limit.Period = time.Second
		take(t, store, long)
		if r := take(t, store, short); r.ResetAfter != 30*time.Second {
			t.Errorf("as new after %v: want the longer lease of 30s", r.ResetAfter)
		}
		renew(t, store, short)
		if at := lifetime(t, client, keyOf(long[0]), epoch); at < 30*time.Second {
			t.Errorf("the key lives for %v: want 30s", at)
		}
		short[0].Holder = "ann" // takes again, by the shorter limit
		if r := take(t, store, short); r.ResetAfter != time.Second {
			t.Errorf("as new after %v: want 1s", r.ResetAfter)
		}
	})
}

// A refund gives back what it can when a lease of another charge is lost.
func TestLostLeaseBesideOtherCharges(t *testing.T) {
	servers(t, func(t *testing.T, client *redis.Client) {
		store, _ := clocked(t, client)
		charges := slices.Concat(tb("a", 2), leased("a", 1, "ann"), sl("a", 3))
		results := make([]ratelimit.Result, len(charges))
		if err := store.Take(t.Context(), charges, results); err != nil {
			t.Fatal(err)
		}
		charges[1].Holder = "bob"
		err := store.Refund(t.Context(), charges)
		if want := `redislimit: refund "rl:{a}:tb:1m", "rl:{a}:cc:30s", "rl:{a}:sl:1m": lease lost`; err == nil || err.Error() != want {
			t.Errorf("error %v: want %s", err, want)
		}
		if err := store.Peek(t.Context(), charges, results); err != nil {
			t.Fatal(err)
		}
		for i, want := range []int64{5, 4, 5} {
			if results[i].Remaining != want {
				t.Errorf("charge %d: %d remain: want %d", i, results[i].Remaining, want)
			}
		}
	})
}

// Lua passes no more than some thousands of arguments.
func TestMostSlotsOfAHolder(t *testing.T) {
	const slots = 1000
	servers(t, func(t *testing.T, client *redis.Client) {
		store := redislimit.NewPatient(client)
		c := leased("a", slots, "ann")
		c[0].Limit.Count = slots + 1
		if r := take(t, store, c); !r.Allowed || r.Remaining != 1 {
			t.Errorf("%+v", r)
		}
		if held := renew(t, store, c); !held[0] {
			t.Error("the lease is lost")
		}
		if n := client.ZCard(t.Context(), keyOf(c[0])).Val(); n != slots {
			t.Errorf("%d slots are taken: want %d", n, slots)
		}
		if err := store.Refund(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		take(t, store, c)
		other := leased("a", 1, "bob")
		other[0].Limit.Count = slots + 1
		take(t, store, other)
		if err := store.Refund(t.Context(), c); err != nil { // not all: slot by slot
			t.Fatal(err)
		}
		if n := client.ZCard(t.Context(), keyOf(c[0])).Val(); n != 1 {
			t.Errorf("%d slots are taken: want 1", n)
		}
	})
}

// miniredis writes 2e+15 for the score of a lease that ends on 18 May 2033.
func TestLeaseThatEndsAtARoundTime(t *testing.T) {
	servers(t, func(t *testing.T, client *redis.Client) {
		for _, ends := range []int64{2e15, 1.9e15, 1.8765e15} {
			store, advance := clocked(t, client)
			advance(time.Duration(ends-epoch.UnixMicro())*time.Microsecond - 30*time.Second)
			take(t, store, leased("a", 1, "ann"))
			if r := take(t, store, leased("a", 5, "ann")); !r.Allowed || r.ResetAfter != 30*time.Second {
				t.Errorf("a lease until %d is not its holder's: %+v", ends, r)
			}
			if r := take(t, store, leased("a", 1, "bob")); r.RetryAfter != 30*time.Second {
				t.Errorf("a lease until %d: retry after %v", ends, r.RetryAfter)
			}
		}
	})
}
