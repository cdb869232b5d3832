// Package hiddennames has types and imports that are called like the variables of a decorator's body, which mentions them.
package hiddennames

import (
	"context"

	limitErr "github.com/ratelimitgen/ratelimitgen/generated_test/hiddennames/value"
	zero2 "github.com/ratelimitgen/ratelimitgen/generated_test/hiddennames/value"
)

type zero struct{ A int }

type zero1 struct{ B int }

type err struct{ C int }

type job struct{ E int }

type Shelf[T, K any] interface {
	//ratelimit:count=2 time=1h
	Get(job) (zero, T, job, error)
	//ratelimit:count=2 time=1h
	Both() (T, zero1, K, zero2.Value, error)
	//ratelimit:count=2 time=1h
	Last(context.Context) (err, error)
	//ratelimit:count=2 time=1h
	Next(err, refused int) (limitErr.Value, zero, T, error)
}
