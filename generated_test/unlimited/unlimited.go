// Package unlimited has methods without a limit: forwarded by hand, so that one that is added to the interface is not
// let through unseen.
package unlimited

import "context"

// Users is limited but for what it exempts.
//
//ratelimit:count=1 time=1h
type Users interface {
	Get(ctx context.Context, id string) (string, error)
	//ratelimit:skip
	Ping(ctx context.Context) error
	// Len cannot be refused.
	//
	//ratelimit:skip
	Len() int
}

// Files has one limited method.
type Files interface {
	Names() (names []string)
	//ratelimit:count=1 time=1h
	Open(ctx context.Context, name string) (int, error)
	Close()
}
