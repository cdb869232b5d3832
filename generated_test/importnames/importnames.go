// Package importnames has parameters that are called like the packages that their methods need.
package importnames

import (
	"context"
	"time"

	"github.com/ratelimitgen/ratelimitgen/generated_test/importnames/parcel"
)

type Carrier interface {
	parcel.Tracker

	// Ship hides the package of its own result, a pointer. Its key means the parameter.
	//
	//ratelimit:key=ship:{parcel.Kg} count=2 time=1h
	Ship(ctx context.Context, parcel *parcel.Box) (*parcel.Receipt, error)
	// Drop hides the package of its own result, a value: only the result itself can be named in the body.
	//
	//ratelimit:count=2 time=1h
	Drop(parcel parcel.Box) (parcel.Receipt, [2]parcel.Box, error)
	// Wait hides two packages that the decorator imports for itself.
	//
	//ratelimit:count=2 time=1h
	Wait(context string, time time.Duration, ratelimit bool) error
}
