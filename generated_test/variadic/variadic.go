// Package variadic has variadic methods with several results.
package variadic

import "context"

type Item struct{ ID string }

type Media interface {
	//ratelimit:count=2 time=1h
	Find(ctx context.Context, ids ...string) ([]Item, error)
	Logf(format string, args ...any)
}
