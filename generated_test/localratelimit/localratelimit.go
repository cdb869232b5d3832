// Package localratelimit needs a package with the name of the runtime.
package localratelimit

import "github.com/ratelimitgen/ratelimitgen/generated_test/localratelimit/ratelimit"

type Meter interface {
	//ratelimit:count=2 time=1h
	Read(l ratelimit.Limiter) (ratelimit.Result, error)
}
