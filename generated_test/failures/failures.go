// Package failures has limits that say what becomes of calls while the store does not answer.
package failures

import "context"

type Mail interface {
	//ratelimit:key=outbox count=2 time=1h fail=local
	Local(ctx context.Context) error
	//ratelimit:key=outbox count=2 time=1h fail=open
	Open(ctx context.Context) error
	//ratelimit:key=outbox count=2 time=1h fail=closed
	Closed(ctx context.Context) error
	// Default does what the limiter does.
	//
	//ratelimit:key=outbox count=2 time=1h
	Default(ctx context.Context) error
	// Both is closed, as one of its limits is.
	//
	//ratelimit:count=2 time=1h fail=open
	//ratelimit:count=2 time=24h fail=closed mode=enforce
	Both(ctx context.Context) error
	//ratelimit:count=1 time=1h fail=open mode=shadow
	Shadow(ctx context.Context) error
}
