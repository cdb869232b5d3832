//go:build !nolimits

package buildtags

type Poller interface {
	//ratelimit:count=2 time=1h
	Poll(h Handle) error
}
