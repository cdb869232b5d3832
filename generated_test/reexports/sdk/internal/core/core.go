// Package core has what package sdk re-exports. Its types name each other as they are called here, where nobody but sdk
// can import them.
package core

import "context"

type Options struct{ Queue string }

type Run interface{ ID() string }

type Page[K comparable, V any] struct{ Items map[K]V }

type Retry struct{ Attempts int }

type Client interface {
	Start(ctx context.Context, options Options, retry ...*Retry) (Run, error)
	List(ctx context.Context) (Page[string, Run], []Page[int, bool], error)
	Options() Options
}
