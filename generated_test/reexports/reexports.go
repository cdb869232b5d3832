// Package reexports decorates interfaces whose types are internal to another module's packages, and have other names in
// public ones.
package reexports

import "github.com/ratelimitgen/ratelimitgen/generated_test/reexports/sdk"

//ratelimit:count=1 time=1h methods=Start,List
type Client interface {
	sdk.Client
}

// run is a nearer name than that of package sdk.
type run = sdk.Run
