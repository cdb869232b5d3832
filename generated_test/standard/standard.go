// Package standard limits interfaces of the standard library, by lines on types of its own.
package standard

import (
	"database/sql/driver"
	"io"
)

// Stream counts what is read and written, and lets it be closed.
//
//ratelimit:key=stream count=3 time=1h methods=Read,Write
type Stream io.ReadWriteCloser

// Queryer limits each user.
//
//ratelimit:count=2 time=1h by=user methods=Query*
type Queryer = driver.QueryerContext
