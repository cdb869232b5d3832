// Package unnamed has parameters without a name: unnamed ones of every kind, and blank ones, variadic too.
package unnamed

import (
	"context"
	"net/http"
	"time"
)

type Option func(*int)

type Address struct{ Host string }

type Type string

type Mixer interface {
	//ratelimit:count=2 time=1h
	Mix(context.Context, string, string, []string, map[string]int, chan<- time.Time, func(int) error, struct{}, interface{ Len() int }, ...any) (string, string, error)
	//ratelimit:count=2 time=1h
	Open(_ context.Context, name string, _ ...Option) (_ int, _ error)
	//ratelimit:count=2 time=1h
	Each([]Address, *Address, Type, []byte, [2]float64, *http.Request, error) error
	Bare(error, bool) bool
	Seal(_, _ string, _ int)
}
