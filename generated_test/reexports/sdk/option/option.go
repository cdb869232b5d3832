// Package option has a name for what only package sdk mentions otherwise.
package option

import "github.com/ratelimitgen/ratelimitgen/generated_test/reexports/sdk/internal/core"

type Retry = core.Retry
