//go:build !nolimits && (linux || darwin || windows)

package buildtags_test

import (
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/buildtags"
	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
)

type dialer struct{ limittest.Calls }

func (d *dialer) Dial(h buildtags.Handle) error {
	d.Add("Dial", h)
	return nil
}

func TestDialer(t *testing.T) {
	var next dialer
	d := buildtags.NewRateLimitedDialer(&next, limittest.Limiter(t))
	limittest.Admits(t, 2, "buildtags.Dialer.Dial", func() error { return d.Dial(buildtags.DefaultHandle()) })
	next.Want(t, 2, "Dial", buildtags.Handle(3))
}
