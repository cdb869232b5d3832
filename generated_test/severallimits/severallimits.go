// Package severallimits has methods with more than one limit.
package severallimits

import "context"

type Search interface {
	// Query keeps two limits under its default key, told apart by their periods.
	//
	//ratelimit:count=2
	//ratelimit:rate=1000/h by=user
	//ratelimit:key=all rate=1000000/7d name=total algorithm=fixed-window
	Query(ctx context.Context, text string) (hits []string, err error)

	// Suggest has two limits of one period, told apart by name.
	//
	//ratelimit:count=5 name=each by=tenant,user onempty=share
	//ratelimit:limit count=50 name=tenant by=tenant onempty=allow
	Suggest(ctx context.Context, prefix string) (hits []string, err error)
}
