// Package page has generic types, and knows nothing of what they are made of.
package page

type Of[T any] struct{ Items []T }

type Query[F any] struct{ Filter F }

type Source[T any] interface {
	Next(after T) (Of[T], error)
}
