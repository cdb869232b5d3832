package ratelimittest

import (
	"fmt"
	"testing"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// call does one thing with one charge.
func call(t *testing.T, store ratelimit.Store, do string, c ratelimit.Charge) (ratelimit.Result, error) {
	t.Helper()
	charges, results := []ratelimit.Charge{c}, make([]ratelimit.Result, 1)
	err := perform(t, store, do, charges, results)
	return results[0], err
}

// perform does one thing with some charges. Of a renewal, a result's Allowed says whether the lease was held; a Store that
// cannot renew skips the test.
func perform(t *testing.T, store ratelimit.Store, do string, charges []ratelimit.Charge, results []ratelimit.Result) error {
	t.Helper()
	ctx := t.Context()
	switch do {
	case "take":
		return store.Take(ctx, charges, results)
	case "peek":
		return store.Peek(ctx, charges, results)
	case "refund":
		return store.Refund(ctx, charges)
	case "reset":
		return store.Reset(ctx, charges)
	case "renew":
		renewer, ok := store.(ratelimit.Renewer)
		if !ok {
			t.Skipf("%T renews no leases", store)
		}
		held := make([]bool, len(results))
		err := renewer.Renew(ctx, charges, held)
		for i := range held {
			results[i].Allowed = held[i]
		}
		return err
	}
	return fmt.Errorf("no such call: %q", do)
}

// expect does one call and compares its answer, but for the time.
func expect(t *testing.T, store ratelimit.Store, do string, c ratelimit.Charge, want ratelimit.Result) {
	t.Helper()
	got, err := call(t, store, do, c)
	if err != nil {
		t.Fatalf("%s %.80q %s: %v", do, c.Key, c.Name, err)
	}
	if timeless(got) != want {
		t.Fatalf("%s %.80q %s:\n got %s\nwant %s", do, c.Key, c.Name, show(got), show(want))
	}
}

// timeless returns an answer without the time, for tests that do not know it.
func timeless(r ratelimit.Result) ratelimit.Result {
	r.At = 0
	return r
}

func show(r ratelimit.Result) string {
	retry := r.RetryAfter.String()
	if r.RetryAfter == ratelimit.Never {
		retry = "never"
	}
	text := fmt.Sprintf("allowed %v, limit %d, remaining %d, retry %s, reset %v", r.Allowed, r.Limit, r.Remaining, retry, r.ResetAfter)
	if r.Delay != 0 {
		text += fmt.Sprintf(", delay %v", r.Delay)
	}
	if r.At != 0 {
		text += fmt.Sprintf(", at %v", r.At)
	}
	return text
}
