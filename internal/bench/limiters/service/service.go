// Package service has an interface with limits and its decorator, as a user has.
package service

import "context"

// Service has methods that do nothing, so that only what the decorator does takes time.
type Service interface {
	// PerIP has a bucket for each client.
	//
	//ratelimit:rate=360/h burst=300000000 ip=true
	PerIP(ctx context.Context) error

	// Shared has one bucket for all.
	//
	//ratelimit:rate=360/h burst=300000000
	Shared(ctx context.Context) error

	// Template has a bucket for each document of each tenant.
	//
	//ratelimit:key=document:{tenant}:{id} rate=360/h burst=300000000
	Template(ctx context.Context, tenant string, id int64) error

	// Free has no limit.
	Free(ctx context.Context) error
}

// Empty is the service that does nothing.
type Empty struct{}

// PerIP implements [Service].
func (Empty) PerIP(context.Context) error { return nil }

// Shared implements [Service].
func (Empty) Shared(context.Context) error { return nil }

// Template implements [Service].
func (Empty) Template(context.Context, string, int64) error { return nil }

// Free implements [Service].
func (Empty) Free(context.Context) error { return nil }
