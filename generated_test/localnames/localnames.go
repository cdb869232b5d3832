// Package localnames has methods and parameters that are called like what the decorator declares for itself.
package localnames

import "context"

type Store interface {
	// Get has the names of the receiver, its fields and its variables.
	//
	//ratelimit:count=2 time=1h
	Get(s context.Context, r, store string, next, limiter, zero int, err error) ([2]int, struct{ N int }, error)
	// Next has the name of the field for the decorated value.
	//
	//ratelimit:count=2 time=1h
	Next(limitErr, err, refused error) error
	// Close and Range have the names of a builtin and of a keyword.
	//
	//ratelimit:count=2 time=1h
	Close() error
	//ratelimit:count=2 time=1h
	Range() error
	// Unwrap leaves no room for that of the decorator.
	Unwrap() error
}
