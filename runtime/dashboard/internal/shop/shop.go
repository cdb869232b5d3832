// Package shop is a service with limits of many kinds and synthetic load, to look at on a dashboard.
package shop

import (
	"context"
	"errors"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

//go:generate go tool ratelimitgen

// Shop is the service.
type Shop interface {
	// Search allows each address ten searches a second.
	//
	//ratelimit:rate=10/s burst=20 ip
	Search(ctx context.Context, words string) ([]string, error)

	// Login counts wrong passwords only: of an address, whoever it tries to be, and of an account, wherever from.
	//
	//ratelimit:rate=20/m ip algorithm=sliding-log refund={err==nil} name=address
	//ratelimit:key=login:{user} rate=5/m algorithm=sliding-window refund={err==nil} name=account
	Login(ctx context.Context, user, password string) error

	// Order allows each customer thirty orders a minute.
	//
	//ratelimit:rate=30/m by=user algorithm=leaky-bucket burst=5 fail=closed
	Order(ctx context.Context, item string) error

	// Export runs three exports at once.
	//
	//ratelimit:count=3 algorithm=concurrency
	Export(ctx context.Context) error

	// Recommend is about to be limited: its limit only looks on as yet.
	//
	//ratelimit:rate=2/s by=user mode=shadow
	Recommend(ctx context.Context, item string) ([]string, error)
}

// New returns a Shop that does nothing, limited by limiter.
func New(limiter *ratelimit.Limiter) *RateLimitedShop { return NewRateLimitedShop(shop{}, limiter) }

// shop is the implementation, which knows nothing of limits.
type shop struct{}

// Search implements [Shop].
func (shop) Search(context.Context, string) ([]string, error) { return nil, nil }

var errPassword = errors.New("wrong password")

// Login implements [Shop].
func (shop) Login(_ context.Context, _, password string) error {
	if password != "correct" {
		return errPassword
	}
	return nil
}

// Order implements [Shop].
func (shop) Order(context.Context, string) error { return nil }

// Export takes as long as its context lasts.
func (shop) Export(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// Recommend implements [Shop].
func (shop) Recommend(context.Context, string) ([]string, error) { return nil, nil }
