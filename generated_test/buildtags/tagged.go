//go:build !nolimits && (linux || darwin || windows)

package buildtags

type Dialer interface {
	//ratelimit:count=2 time=1h
	Dial(h Handle) error
}
