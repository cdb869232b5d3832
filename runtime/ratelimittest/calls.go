package ratelimittest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// calls are the tests that are not about the arithmetic of one bucket.
var calls = []struct {
	name string
	run  Test
}{
	{"several limits are charged all or not at all", allOrNothing},
	{"a bucket that refuses leaves the charge of the others untaken", sharedBucket},
	{"key, name and algorithm each make another bucket", ownBuckets},
	{"keys are any bytes", anyKey},
	{"a key is neither changed nor kept", keyOfCaller},
	{"a charge of cost 0 looks and takes nothing", freeCharge},
	{"reset makes as new", resets},
	{"refund of several charges", refundAll},
	{"no charges at all", noCharges},
	{"invalid charges are errors", invalidCharges},
	{"a context that has ended is an error", endedContext},
	{"admits what it should however many call", manyCallers},
	{"saturated, a bucket admits burst and rate", saturation},
	{"no span of a period admits more than the algorithm says", spans},
	{"resets and takes at the same time", resetRace},
}

// minute and longer are two limits of one call.
func minute(cost int64) ratelimit.Charge {
	return ratelimit.Charge{Key: []byte("user:1"), Name: "1m", Limit: window(10, time.Minute), Cost: cost}
}

func longer(cost int64) ratelimit.Charge {
	return ratelimit.Charge{Key: []byte("user:1"), Name: "30m", Limit: tokens(30, 30*time.Minute), Cost: cost}
}

// R45 (a), R46
func allOrNothing(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	for _, charges := range [][]ratelimit.Charge{{minute(1), longer(1)}, {longer(1), minute(1)}} {
		results := make([]ratelimit.Result, 2)
		for i := range int64(31) {
			if err := store.Take(t.Context(), charges, results); err != nil {
				t.Fatal(err)
			}
			used, allowed := min(i+1, 10), i < 10
			want := map[string]ratelimit.Result{
				"1m": {Allowed: allowed, Limit: 10, Remaining: 10 - used, ResetAfter: time.Minute},
				// Of the other limit the result says that it would allow, and how it stands.
				"30m": {Allowed: true, Limit: 30, Remaining: 30 - used, ResetAfter: time.Duration(used) * time.Minute},
			}
			if !allowed {
				refused := want["1m"]
				refused.RetryAfter = time.Minute
				want["1m"] = refused
			}
			for j, c := range charges {
				if results[j] != want[c.Name] {
					t.Fatalf("call %d, limit %s:\n got %s\nwant %s", i, c.Name, show(results[j]), show(want[c.Name]))
				}
			}
		}
		if err := store.Reset(t.Context(), charges); err != nil {
			t.Fatal(err)
		}
	}
}

// R45 (b)
func sharedBucket(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	shared := charge("all", window(10, time.Minute), 1)
	for user, calls := range map[string]int{"user:1": 20, "user:2": 1} {
		charges := []ratelimit.Charge{charge(user, tokens(1, time.Minute), 1), shared}
		admitted := 0
		for range calls {
			results := make([]ratelimit.Result, len(charges))
			if err := store.Take(t.Context(), charges, results); err != nil {
				t.Fatal(err)
			}
			if results[0].Allowed && results[1].Allowed {
				admitted++
			}
		}
		if admitted != 1 {
			t.Errorf("%s was admitted %d times: want 1", user, admitted)
		}
	}
	expect(t, store, "peek", shared, ratelimit.Result{Allowed: true, Limit: 10, Remaining: 8, ResetAfter: time.Minute})
}

// R46
func ownBuckets(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	limit := tokens(1, time.Hour)
	charges := []ratelimit.Charge{
		{Key: []byte("a:bc"), Name: "x", Limit: limit},
		{Key: []byte("ab:c"), Name: "x", Limit: limit},
		{Key: []byte("a:bc"), Name: "y", Limit: limit},
		{Key: []byte("a:bc"), Name: "x", Limit: window(1, time.Hour)},
		{Key: []byte("a:bc"), Name: "x", Limit: leak(1, time.Hour, 0)},
		{Key: []byte("a:bcx"), Name: "", Limit: limit},
		{Key: []byte("a:bc"), Name: "xx", Limit: limit},
		{Key: []byte("xa:bc"), Name: "x", Limit: limit},
		{Key: nil, Name: "x", Limit: limit},
		{Key: nil, Name: "", Limit: limit},
	}
	for i, c := range charges {
		c.Cost = 1
		expect(t, store, "take", c, ratelimit.Result{Allowed: true, Limit: 1, ResetAfter: time.Hour})
		for _, other := range charges[i+1:] {
			expect(t, store, "peek", other, ratelimit.Result{Allowed: true, Limit: 1, Remaining: 1})
		}
	}
}

func anyKey(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	long := strings.Repeat("k", 1<<16)
	keys := []string{"", " ", "\x00", "\x00\x00", "\r\n", "\n*1\r\n", "\xff\xfe", "é", "%", "{", "}", "{}", "}{", "\"", "'", "]]", long, long + "k"}
	for i, key := range keys {
		expect(t, store, "take", charge(key, tokens(1, time.Hour), 1), ratelimit.Result{Allowed: true, Limit: 1, ResetAfter: time.Hour})
		for _, other := range keys[i+1:] {
			expect(t, store, "peek", charge(other, tokens(1, time.Hour), 1), ratelimit.Result{Allowed: true, Limit: 1, Remaining: 1})
		}
	}
}

func keyOfCaller(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	c := charge("a", window(1, time.Hour), 1)
	full := ratelimit.Result{Allowed: true, Limit: 1, ResetAfter: time.Hour}
	expect(t, store, "take", c, full)
	if string(c.Key) != "a" {
		t.Fatalf("the key has become %q", c.Key)
	}
	c.Key[0] = 'b'
	expect(t, store, "take", c, full)
	c.Key[0] = 'a'
	expect(t, store, "peek", c, ratelimit.Result{Limit: 1, RetryAfter: time.Hour, ResetAfter: time.Hour})
}

// U05
func freeCharge(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	for _, limit := range []ratelimit.Limit{tokens(1, time.Hour), window(1, time.Hour), leak(1, time.Hour, 0)} {
		free, one := charge("free", limit, 0), charge("free", limit, 1)
		expect(t, store, "take", free, ratelimit.Result{Allowed: true, Limit: 1, Remaining: 1})
		expect(t, store, "take", one, ratelimit.Result{Allowed: true, Limit: 1, ResetAfter: time.Hour})
		expect(t, store, "take", free, ratelimit.Result{Allowed: true, Limit: 1, ResetAfter: time.Hour})
		expect(t, store, "refund", free, ratelimit.Result{})
		expect(t, store, "peek", free, ratelimit.Result{Allowed: true, Limit: 1, ResetAfter: time.Hour})
	}
}

// R21
func resets(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	charges := []ratelimit.Charge{
		charge("reset", tokens(5, time.Minute), 5),
		charge("reset", window(5, time.Minute), 5),
		charge("reset", leak(5, time.Minute, 0), 5),
		charge("never used", window(5, time.Minute), 5),
	}
	for _, c := range charges[:3] {
		expect(t, store, "take", c, ratelimit.Result{Allowed: true, Limit: 5, ResetAfter: time.Minute})
	}
	if err := store.Reset(t.Context(), charges); err != nil {
		t.Fatal(err)
	}
	for _, c := range charges {
		c.Cost = 1
		expect(t, store, "peek", c, ratelimit.Result{Allowed: true, Limit: 5, Remaining: 5})
	}
}

func refundAll(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	charges := []ratelimit.Charge{minute(2), longer(3), charge("never used", window(5, time.Minute), 4)}
	results := make([]ratelimit.Result, 3)
	if err := store.Take(t.Context(), []ratelimit.Charge{minute(5), longer(5)}, results[:2]); err != nil {
		t.Fatal(err)
	}
	if err := store.Refund(t.Context(), charges); err != nil {
		t.Fatal(err)
	}
	if err := store.Peek(t.Context(), charges, results); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{7, 28, 5} {
		if results[i].Remaining != want {
			t.Errorf("charge %d: %d remain after the refund: want %d", i, results[i].Remaining, want)
		}
	}
}

func noCharges(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	for _, do := range []string{"take", "peek", "refund", "reset"} {
		if err := perform(t, store, do, nil, nil); err != nil {
			t.Errorf("%s: %v", do, err)
		}
	}
}

// R34, U02, U05
func invalidCharges(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	limit := tokens(5, time.Minute)
	good := charge("good", limit, 1)
	tests := []struct {
		name    string
		charges []ratelimit.Charge
	}{
		{"limit zero", []ratelimit.Charge{good, charge("bad", ratelimit.Limit{}, 1)}},
		{"no period", []ratelimit.Charge{good, charge("bad", tokens(1, 0), 1)}},
		{"part of a microsecond", []ratelimit.Charge{good, charge("bad", tokens(1, time.Second+1), 1)}},
		{"negative burst", []ratelimit.Charge{good, charge("bad", burst(1, time.Second, -1), 1)}},
		{"negative cost", []ratelimit.Charge{good, charge("bad", limit, -1)}},
		{"one bucket twice", []ratelimit.Charge{good, good}},
	}
	for _, test := range tests {
		for _, do := range []string{"take", "peek", "refund", "reset"} {
			if err := perform(t, store, do, test.charges, make([]ratelimit.Result, len(test.charges))); err == nil {
				t.Errorf("%s: %s returns no error", test.name, do)
			}
		}
	}
	for _, do := range []string{"take", "peek"} {
		if err := perform(t, store, do, []ratelimit.Charge{good}, nil); err == nil {
			t.Errorf("no room for the result: %s returns no error", do)
		}
	}
	expect(t, store, "peek", good, ratelimit.Result{Allowed: true, Limit: 5, Remaining: 5})
}

// S15
func endedContext(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	charges, results := []ratelimit.Charge{charge("ended", tokens(5, time.Minute), 1)}, make([]ratelimit.Result, 1)
	errs := map[string]error{
		"take":   store.Take(ctx, charges, results),
		"peek":   store.Peek(ctx, charges, results),
		"refund": store.Refund(ctx, charges),
		"reset":  store.Reset(ctx, charges),
	}
	for do, err := range errs {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v: want context.Canceled", do, err)
		}
	}
	expect(t, store, "peek", charges[0], ratelimit.Result{Allowed: true, Limit: 5, Remaining: 5})
}

// S18, S19
func manyCallers(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	const callers, each = 32, 20
	limits := []ratelimit.Limit{
		tokens(100, time.Hour), interval(100, time.Hour, 100), window(100, time.Hour), slide(100, time.Hour), leak(100, time.Hour, 0),
	}
	for _, limit := range limits {
		own := charge(fmt.Sprintf("%v %v", limit.Algorithm, limit.Refill), limit, 1)
		shared := charge("shared", window(1_000_000, time.Hour), 1)
		var admitted atomic.Int64
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				charges, results := []ratelimit.Charge{shared, own}, make([]ratelimit.Result, 2)
				for i := range each {
					charges[0], charges[1] = charges[1], charges[0] // in any order
					if err := store.Take(t.Context(), charges, results); err != nil {
						t.Errorf("call %d: %v", i, err)
						return
					}
					if results[0].Allowed && results[1].Allowed {
						admitted.Add(1)
					}
				}
			})
		}
		wg.Wait()
		if n := admitted.Load(); n != 100 {
			t.Errorf("%v: %d calls of %d were admitted: want 100", limit, n, callers*each)
		}
	}
	expect(t, store, "peek", charge("shared", window(1_000_000, time.Hour), 1),
		ratelimit.Result{Allowed: true, Limit: 1_000_000, Remaining: 1_000_000 - 500, ResetAfter: time.Hour})
}

// R21
func resetRace(t *testing.T, store ratelimit.Store, _ func(time.Duration)) {
	c := charge("race", tokens(5, time.Minute), 1)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			do := "take"
			if i == 25 {
				do = "reset"
			}
			if result, err := call(t, store, do, c); err != nil || result.Remaining < 0 || result.Remaining > 5 {
				t.Errorf("%s: %s, error %v", do, show(result), err)
			}
		})
	}
	wg.Wait()
}

// expect does one call and compares its answer.
func expect(t *testing.T, store ratelimit.Store, do string, c ratelimit.Charge, want ratelimit.Result) {
	t.Helper()
	got, err := call(t, store, do, c)
	if err != nil {
		t.Fatalf("%s %.80q %s: %v", do, c.Key, c.Name, err)
	}
	if got != want {
		t.Fatalf("%s %.80q %s:\n got %s\nwant %s", do, c.Key, c.Name, show(got), show(want))
	}
}
