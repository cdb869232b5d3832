package ratelimittest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/ratelimittest"
)

func ofKey(key, name string) ratelimit.Charge {
	return ratelimit.Charge{Key: []byte(key), Name: name, Limit: ratelimit.Limit{Count: 5, Period: time.Minute}, Cost: 2}
}

func TestOrdersHoldForTheirBuckets(t *testing.T) {
	type bucket = ratelimittest.Bucket
	down := errors.New("down")
	alice, bob, other := ofKey("get:alice", "1m"), ofKey("get:bob", "1m"), ofKey("gets", "1m")
	perHour := ofKey("get:alice", "1h")
	steps := []struct {
		do      string
		order   func(s *ratelimittest.Store)
		charges []ratelimit.Charge
		want    string // which are allowed, with what remains, or the error
	}{
		{"nothing", func(*ratelimittest.Store) {}, []ratelimit.Charge{alice, bob}, "3 3"},
		{"refuse one", func(s *ratelimittest.Store) { s.Refuse(time.Second, bucket{Key: "get:alice"}) }, []ratelimit.Charge{alice}, "1s"},
		{"another one", func(*ratelimittest.Store) {}, []ratelimit.Charge{bob}, "3"},
		{"both: nothing is taken", func(*ratelimittest.Store) {}, []ratelimit.Charge{alice, bob}, "1s 5"},
		{"refuse all that begin so", func(s *ratelimittest.Store) { s.Refuse(ratelimit.Never, bucket{Key: "get"}) }, []ratelimit.Charge{alice, bob}, "never never"},
		{"a key that only looks alike", func(*ratelimittest.Store) {}, []ratelimit.Charge{other}, "3"},
		{"the later order holds", func(s *ratelimittest.Store) { s.Allow(bucket{Name: "1h"}) }, []ratelimit.Charge{alice, perHour}, "never 5"},
		{"fail for one", func(s *ratelimittest.Store) { s.Fail(down, bucket{Key: "gets", Name: "1m"}) }, []ratelimit.Charge{other}, "down"},
		{"which fails those beside it", func(*ratelimittest.Store) {}, []ratelimit.Charge{perHour, other}, "down"},
		{"but no others", func(*ratelimittest.Store) {}, []ratelimit.Charge{perHour}, "3"},
		{"fail for no reason", func(s *ratelimittest.Store) { s.Fail(nil) }, []ratelimit.Charge{other}, "ratelimittest: told to fail"},
		{"at once is a microsecond", func(s *ratelimittest.Store) { s.Refuse(0) }, []ratelimit.Charge{other}, "1µs"},
		{"allow all", func(s *ratelimittest.Store) { s.Allow() }, []ratelimit.Charge{alice, other}, "3 3"},
	}
	var store ratelimittest.Store
	for _, step := range steps {
		step.order(&store)
		results := make([]ratelimit.Result, len(step.charges))
		var answers []string
		if err := store.Take(t.Context(), step.charges, results); err != nil {
			answers = []string{err.Error()}
		} else {
			for _, r := range results {
				answers = append(answers, shown(r))
			}
		}
		if got := strings.Join(answers, " "); got != step.want {
			t.Errorf("%s: %s: want %s", step.do, got, step.want)
		}
	}
}

// shown returns what remains, or when to come again.
func shown(r ratelimit.Result) string {
	switch {
	case r.Allowed:
		return fmt.Sprint(r.Remaining)
	case r.RetryAfter == ratelimit.Never:
		return "never"
	}
	return r.RetryAfter.String()
}

func TestStoreTellsWhatItWasAsked(t *testing.T) {
	var store ratelimittest.Store
	key := []byte("get")
	charges := []ratelimit.Charge{ofKey("", "1m")}
	charges[0].Key = key
	results := make([]ratelimit.Result, 1)
	for _, err := range []error{
		store.Take(t.Context(), charges, results), store.Peek(t.Context(), charges, results),
		store.Refund(t.Context(), charges), store.Reset(t.Context(), charges),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	copy(key, "XXX") // a Store does not keep what is its caller's
	var did []string
	for _, ask := range store.Asked() {
		did = append(did, ask.Do+" "+string(ask.Charges[0].Key))
	}
	if want := []string{"Take get", "Peek get", "Refund get", "Reset get"}; !slices.Equal(did, want) {
		t.Errorf("asked %q: want %q", did, want)
	}
}

func TestStoreRefusesWhatEveryStoreDoes(t *testing.T) {
	var store ratelimittest.Store
	twice := []ratelimit.Charge{ofKey("get", "1m"), ofKey("get", "1m")}
	slot := []ratelimit.Charge{ofKey("get", "1m")}
	slot[0].Limit.Algorithm = ratelimit.Concurrency
	ended, end := context.WithCancel(t.Context())
	end()
	one := make([]ratelimit.Result, 1)
	for do, err := range map[string]error{
		"one result for two":  store.Take(t.Context(), []ratelimit.Charge{ofKey("a", "1m"), ofKey("b", "1m")}, one),
		"one bucket twice":    store.Peek(t.Context(), twice, make([]ratelimit.Result, 2)),
		"a slot for nobody":   store.Take(t.Context(), slot, one),
		"refund of it twice":  store.Refund(t.Context(), twice),
		"renewal of no slot":  store.Renew(t.Context(), twice[:1], make([]bool, 1)),
		"a context that ends": store.Take(ended, twice[:1], one),
	} {
		if err == nil {
			t.Errorf("%s is no error", do)
		}
	}
	if asked := store.Asked(); len(asked) != 0 {
		t.Errorf("asked %v: want nothing", asked)
	}
}

// A test may take its slot away from a call that runs.
func TestRefusedSlotIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var store ratelimittest.Store
		limiter, err := ratelimit.New(&store)
		if err != nil {
			t.Fatal(err)
		}
		guard := limiter.Guard("Export", ratelimit.Rule{
			Key: "Export", Name: "slots", Limit: ratelimit.Limit{Algorithm: ratelimit.Concurrency, Count: 1, Period: 30 * time.Second},
		})
		call, err := guard.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer call.End()
		time.Sleep(time.Minute)
		if err := call.Context().Err(); err != nil {
			t.Fatalf("after a minute: %v", err)
		}
		store.Refuse(time.Second)
		<-call.Context().Done()
		if cause := context.Cause(call.Context()); !errors.Is(cause, ratelimit.ErrLeaseLost) {
			t.Errorf("the call ends with %v: want %v", cause, ratelimit.ErrLeaseLost)
		}
	})
}
