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

// Guarded has a default, which means what can be limited.
//
//ratelimit:count=1 time=1h
type Guarded interface {
	api.Sealed
}

// Embedding has one on what it embeds.
type Embedding interface {
	//ratelimit:count=1 time=1h key=embedding
	api.Sealed
}
