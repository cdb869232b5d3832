package localratelimit_test

import (
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	"github.com/ratelimitgen/ratelimitgen/generated_test/localratelimit"
	"github.com/ratelimitgen/ratelimitgen/generated_test/localratelimit/ratelimit"
)

type meter struct{ limittest.Calls }

func (m *meter) Read(l ratelimit.Limiter) (ratelimit.Result, error) {
	m.Add("Read", l)
	return ratelimit.Result{OK: true}, nil
}

func TestMeter(t *testing.T) {
	var next meter
	m := localratelimit.NewRateLimitedMeter(&next, limittest.Limiter(t))
	limittest.Admits(t, 2, "localratelimit.Meter.Read", func() error {
		result, err := m.Read(ratelimit.Limiter{N: 3})
		if result.OK != (err == nil) {
			t.Errorf("got %v, %v", result, err)
		}
		return err
	})
	next.Want(t, 2, "Read", ratelimit.Limiter{N: 3})
}
