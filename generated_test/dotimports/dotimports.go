// Package dotimports imports packages with a dot and for their side effects, one of them more than once.
package dotimports

import (
	. "time"
	_ "time"
	clock "time"

	. "github.com/ratelimitgen/ratelimitgen/generated_test/dotimports/table"
)

type Query interface {
	//ratelimit:count=2 time=1h
	Where(within Duration, from ...Table) (rows []Row, at clock.Time, err error)
}
