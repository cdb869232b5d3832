// Package burst has token buckets of every kind, and calls that cost more or less than one token.
package burst

import "context"

type Uploads interface {
	// Small has room for a burst.
	//
	//ratelimit:count=1 time=500ms burst=3
	Small(ctx context.Context) error
	// Large refills all at once.
	//
	//ratelimit:count=2 time=1m refill=interval
	Large(ctx context.Context) error
	// Batch takes many tokens.
	//
	//ratelimit:count=10000 time=48h cost=4000 burst=20000 refill=interval status=503 message="come \"back\" tomorrow"
	Batch(ctx context.Context) error
	// Status only looks.
	//
	//ratelimit:count=1 cost=0
	Status(ctx context.Context) error
}
