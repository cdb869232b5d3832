// Package private limits an interface with a method that is private to another package.
package private

import "github.com/ratelimitgen/ratelimitgen/generated_test/private/api"

// Server is limited where it can be refused.
//
//ratelimit:count=2 time=1h by=user methods=Check
type Server interface {
	api.Server
	//ratelimit:count=1 time=1h
	stop() error
}
