// Package stream has generic interfaces without limits of their own.
package stream

import "context"

type Source[T any] interface {
	Recv() (*T, error)
	Context() context.Context
}

type Dual[K comparable, V any] interface {
	Put(k K, v V) error
	Take(k K) (V, bool)
}
