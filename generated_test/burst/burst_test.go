package burst_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ratelimitgen/ratelimitgen/generated_test/burst"
	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

type uploads struct{}

func (uploads) Small(context.Context) error  { return nil }
func (uploads) Large(context.Context) error  { return nil }
func (uploads) Batch(context.Context) error  { return nil }
func (uploads) Status(context.Context) error { return nil }

// U01
func TestBuckets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := burst.NewRateLimitedUploads(uploads{}, limittest.Limiter(t))
		for _, step := range []struct {
			wait   time.Duration
			method string
			call   func(context.Context) error
			admits int
		}{
			{method: "Small", call: u.Small, admits: 3},
			{wait: 500 * time.Millisecond, method: "Small", call: u.Small, admits: 1},
			{method: "Large", call: u.Large, admits: 2},
			{wait: 59 * time.Second, method: "Large", call: u.Large, admits: 0}, // nothing before the minute is full
			{wait: time.Second, method: "Large", call: u.Large, admits: 2},
			{method: "Batch", call: u.Batch, admits: 5},
		} {
			time.Sleep(step.wait)
			limittest.Admits(t, step.admits, "burst.Uploads."+step.method, func() error { return step.call(t.Context()) })
		}
	})
}

func TestFreeCallIsNeverRefused(t *testing.T) {
	u := burst.NewRateLimitedUploads(uploads{}, limittest.Limiter(t))
	for range 10 {
		if err := u.Status(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRefusalCarriesStatusAndMessage(t *testing.T) {
	u := burst.NewRateLimitedUploads(uploads{}, limittest.Limiter(t))
	var err error
	for range 6 {
		err = u.Batch(t.Context())
	}
	var refusal *ratelimit.LimitError
	if !errors.As(err, &refusal) || refusal.Status != 503 || refusal.Message != `come "back" tomorrow` {
		t.Errorf("got %+v, want status 503 and the message", err)
	}
}
