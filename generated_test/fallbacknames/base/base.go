// Package base has directives whose fallbacks other packages call.
package base

import (
	"context"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

type Result struct{ From string }

type Base interface {
	//ratelimit:count=1 time=1h fallback=Cached
	Get(ctx context.Context) (*Result, error)
	//ratelimit:count=1 time=1h fallback=GetStale
	GetFresh(ctx context.Context) (*Result, error)
	GetStale(ctx context.Context) (*Result, error)
	private()
}

// Service implements Base.
type Service struct{}

func (Service) Get(context.Context) (*Result, error)      { return &Result{"service"}, nil }
func (Service) GetFresh(context.Context) (*Result, error) { return &Result{"fresh"}, nil }
func (Service) GetStale(context.Context) (*Result, error) { return &Result{"stale"}, nil }
func (Service) private()                                  {}

func Cached(_ context.Context, e *ratelimit.LimitError) (*Result, error) {
	return &Result{"base:" + e.Name}, nil
}
