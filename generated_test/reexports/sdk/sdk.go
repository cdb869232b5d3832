// Package sdk has the public names of the types of an internal package.
package sdk

import (
	"github.com/ratelimitgen/ratelimitgen/generated_test/reexports/sdk/internal/core"
	"github.com/ratelimitgen/ratelimitgen/generated_test/reexports/sdk/option"
)

type (
	Client                       = core.Client
	Options                      = core.Options
	Run                          = core.Run
	Page[K comparable, V any]    = core.Page[K, V]
	Swapped[V any, K comparable] = core.Page[K, V]
	Flags                        = core.Page[int, bool]
)

var DefaultRetry option.Retry
