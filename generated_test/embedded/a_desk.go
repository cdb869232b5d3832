// Package embedded has interfaces that bring methods: of other files, of other packages, and the predeclared error.
package embedded

import (
	"fmt"
	"io"
)

type Desk interface {
	//ratelimit:count=1 time=1h
	Write(s string) error
	drawer
	fmt.Stringer
	// WriteTo comes of a package that is not ours to annotate.
	//
	//ratelimit:count=4 time=1h
	io.WriterTo
}

type NotFound interface {
	error
	//ratelimit:count=1 time=1h
	Missing() ([]string, error)
}
