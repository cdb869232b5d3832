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

// shards are several servers without data, whose clocks are the test's.
type shards struct {
	client  redis.UniversalClient
	store   *redislimit.Store
	advance func(time.Duration)
}

// onShards are tests of what is done when the buckets of a call live on several servers.
var onShards = []struct {
	name string
	run  func(*testing.T, shards)
}{
	{"one script a key, in order", keysInOrder},
	{"when a key fails, those before it are as before", keysBeforeAreUndone},
	{"a refund that fails is an error", undoFails},
	{"a reservation is given back", reservationIsUndone},
	{"a window is given back what was taken in it", windowIsUndone},
	{"a slot is released", slotIsReleased},
	{"refund and renew go on when a key fails", othersGoOn},
	{"several limits on one call", severalLimits},
}

func TestRing(t *testing.T) {
	for _, test := range onShards {
		t.Run(test.name, func(t *testing.T) {
			one, two := newMini(t), newMini(t)
			ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"one": one.Addr(), "two": two.Addr()}})
			defer func() { _ = ring.Close() }()
			test.run(t, shards{ring, redislimit.NewPatient(ring), func(d time.Duration) {
				one.advance(d)
				two.advance(d)
			}})
		})
	}
}

// scripts returns the scripts that were sent, as the first letters of their keys.
func (i *intercept) scripts() []string {
	var scripts []string
	for _, args := range i.args {
		keys := args[3 : 3+args[2].(int)]
		var text strings.Builder
		for _, key := range keys {
			text.WriteByte(strings.TrimPrefix(key.(string), "rl:{")[0])
		}
		scripts = append(scripts, text.String())
	}
	return scripts
}

// sent returns the scripts that a call sends, of which the servers know all.
func (s shards) sent(t *testing.T, call func() error) []string {
	t.Helper()
	if err := call(); err != nil {
		t.Fatal(err)
	}
	seen := &intercept{}
	s.client.AddHook(seen)
	if err := call(); err != nil {
		t.Fatal(err)
	}
	return seen.scripts()
}

func keysInOrder(t *testing.T, s shards) {
	charges := slices.Concat(tb("b", 1), tb("a", 1), fw("b", 1), sw("c", 1), fw("a", 1))
	results := make([]ratelimit.Result, len(charges))
	take := func() error { return s.store.Take(t.Context(), charges, results) }
	peek := func() error { return s.store.Peek(t.Context(), charges, results) }
	refund := func() error { return s.store.Refund(t.Context(), charges) }

	if got, want := s.sent(t, take), []string{"bb", "aa", "c"}; !slices.Equal(got, want) {
		t.Errorf("take sends scripts for %v: want %v", got, want)
	}
	for do, call := range map[string]func() error{"peek": peek, "refund": refund} {
		got := s.sent(t, call)
		slices.Sort(got) // they are sent at the same time
		if want := []string{"aa", "bb", "c"}; !slices.Equal(got, want) {
			t.Errorf("%s sends scripts for %v: want %v", do, got, want)
		}
	}
	charges[1].Cost = 6 // above the limit
	got := s.sent(t, take)
	slices.Sort(got[3:])
	if want := []string{"bb", "aa", "bb", "bb", "c"}; !slices.Equal(got, want) {
		t.Errorf("take that the second key refuses sends scripts for %v: want a refund of the first, then all but the second: %v", got, want)
	}
	charges[0].Cost = 6
	got = s.sent(t, take)
	slices.Sort(got[1:])
	if want := []string{"bb", "aa", "c"}; !slices.Equal(got, want) {
		t.Errorf("take that the first key refuses sends scripts for %v: want %v", got, want)
	}
	if err := s.store.Reset(t.Context(), charges); err != nil {
		t.Errorf("reset: %v", err)
	}

	// Keys with the same hash tag live together. An empty one is none, and then no two do.
	for prefix, want := range map[string]int{"{shop}:": 1, "shop{}:": 5, "shop{": 3, "shop}": 3} {
		store := redislimit.NewPatient(s.client, redislimit.Prefix(prefix))
		peek := func() error { return store.Peek(t.Context(), charges, results) }
		if got := len(s.sent(t, peek)); got != want {
			t.Errorf("with the prefix %s, %d scripts: want %d", prefix, got, want)
		}
	}
}

func othersGoOn(t *testing.T, s shards) {
	limits := slices.Concat(tb("a", 2), tb("b", 2))
	take(t, s.store, limits[:1])
	take(t, s.store, limits[1:])
	leases := slices.Concat(cc("a", 1, "x"), cc("b", 1, "x"), cc("a", 2, "y"), cc("b", 1, "lost"))
	for i := range leases[:3] {
		take(t, s.store, leases[i:i+1])
	}
	held := make([]bool, len(leases))
	if err := s.store.Refund(t.Context(), limits); err != nil { // the servers get to know the script
		t.Fatal(err)
	}
	if err := s.store.Renew(t.Context(), leases, held); err != nil || !slices.Equal(held, []bool{true, true, true, false}) {
		t.Errorf("renew: %v, error %v: want all but the last", held, err)
	}

	fail := func() error { return errors.New("no route") }
	take(t, s.store, limits[:1])
	take(t, s.store, limits[1:])
	s.client.AddHook(onKey("rl:{a}", fail))
	err := s.store.Refund(t.Context(), limits)
	if want := `redislimit: refund "rl:{a}:tb:1m": no route`; err == nil || err.Error() != want {
		t.Errorf("refund: error %v: want %s", err, want)
	}
	if r := take(t, s.store, tb("b", 0)); r.Remaining != 5 {
		t.Errorf("%d of b are left: want the 5 that the refund left", r.Remaining)
	}

	clear(held)
	s.client.AddHook(onKey("rl:{a}", fail))
	err = s.store.Renew(t.Context(), leases, held)
	if want := `redislimit: renew "rl:{a}:cc:1m", "rl:{a}:cc:1m": no route`; err == nil || err.Error() != want {
		t.Errorf("renew: error %v: want %s", err, want)
	}
	if !held[1] || held[3] {
		t.Errorf("renew: %v: want the second and not the last", held)
	}

	err = s.store.Refund(t.Context(), append(tb("a", 1), leases[3]))
	if !errors.Is(err, ratelimit.ErrLeaseLost) {
		t.Errorf("release of a lost lease: error %v", err)
	}
}

// onKey does something before a script is sent for a key that begins like that. Its error becomes the script's.
func onKey(begin string, do func() error) redis.Hook {
	return &intercept{answer: func(cmd redis.Cmder) (bool, error) {
		if key, ok := cmd.Args()[3].(string); !ok || !strings.HasPrefix(key, begin) {
			return false, nil
		}
		err := do()
		return err != nil, err
	}}
}

// R45, whose limits have a key each.
func severalLimits(t *testing.T, s shards) {
	limit := func(key string, count int64, period time.Duration) ratelimit.Charge {
		l := ratelimit.Limit{Algorithm: ratelimit.SlidingLog, Count: count, Period: period}
		return ratelimit.Charge{Key: []byte(key), Name: period.String(), Limit: l, Cost: 1}
	}
	allowed := func(charges ...ratelimit.Charge) bool {
		t.Helper()
		results := make([]ratelimit.Result, len(charges))
		if err := s.store.Take(t.Context(), charges, results); err != nil {
			t.Fatal(err)
		}
		return !slices.ContainsFunc(results, func(r ratelimit.Result) bool { return !r.Allowed })
	}
	used := func(c ratelimit.Charge) int64 {
		c.Cost = 0
		return c.Limit.Count - take(t, s.store, []ratelimit.Charge{c}).Remaining
	}
	for _, order := range []func(a, b ratelimit.Charge) []ratelimit.Charge{
		func(a, b ratelimit.Charge) []ratelimit.Charge { return []ratelimit.Charge{a, b} },
		func(a, b ratelimit.Charge) []ratelimit.Charge { return []ratelimit.Charge{b, a} },
	} {
		short, long := limit("a", 10, time.Minute), limit("b", 30, 30*time.Minute)
		for i := range 31 {
			if got := allowed(order(short, long)...); got != (i < 10) {
				t.Errorf("(a) call %d: allowed %v", i, got)
			}
		}
		if n := used(long); n != 10 {
			t.Errorf("(a) the long limit has used %d: want 10", n)
		}

		global := limit("global", 10, time.Minute)
		for i := range 20 {
			if got := allowed(order(limit("user:1", 1, time.Minute), global)...); got != (i == 0) {
				t.Errorf("(b) call %d: allowed %v", i, got)
			}
		}
		if n := used(global); n != 1 {
			t.Errorf("(b) the global limit has used %d: want 1", n)
		}
		if !allowed(order(limit("user:2", 1, time.Minute), global)...) {
			t.Error("(b) the other user is refused")
		}

		minute, second := limit("c", 2, time.Minute), limit("d", 1, time.Second)
		got := fmt.Sprint(allowed(order(minute, second)...), allowed(order(minute, second)...))
		s.advance(time.Second)
		if got = fmt.Sprint(got, " ", allowed(order(minute, second)...)); got != "true false true" {
			t.Errorf("(c) allowed %s: want true false true", got)
		}
		s.advance(time.Hour)
	}
}
