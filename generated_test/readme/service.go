// Package readme is the service of the README: a context, an error, and one bucket for each client IP.
package readme

import "context"

//go:generate go tool ratelimitgen

// Result is what TestGet finds.
type Result struct{ ID string }

type TestService interface {
	// TestGet allows each client IP five calls a second.
	//
	//ratelimit:key=testGet time=1 count=5 ip=true
	TestGet(ctx context.Context, id string) (*Result, error)
}
