// Package generics has generic interfaces under constraints of every kind.
package generics

import (
	"context"

	"github.com/ratelimitgen/ratelimitgen/generated_test/generics/num"
)

type Entry[ID comparable] interface {
	Key() (ID, int)
}

// Ledger is constrained by comparable, for which no type argument is at hand.
type Ledger[ID comparable, V any] interface {
	//ratelimit:count=2 time=1h
	Post(ctx context.Context, e Entry[ID], v V) (V, error)
	//ratelimit:count=2 time=1h
	Split(ctx context.Context, e Entry[ID]) (ID, V, []V, map[ID]V, error)
	Check(e Entry[ID]) bool
}

// Gauge has a constraint of another package and one without a name.
type Gauge[N num.Real, M interface{ ~string | ~[]byte }] interface {
	//ratelimit:count=2 time=1h
	Add(n N, label M) (sum N, err error)
}

type Ordered[T any] interface {
	Less(other T) bool
}

// Tree has type parameters that depend on themselves and on each other.
type Tree[N interface {
	Ordered[N]
	comparable
}, L ~[]N] interface {
	//ratelimit:count=2 time=1h
	Insert(n N) (replaced N, err error)
	Walk(visit func(N) bool) L
	Clone() Tree[N, L]
}

type err struct{}

type base interface {
	//ratelimit:count=2 time=1h
	Find(id string) (err, error)
}

// Cache has type parameters that are blank or hide what its embedded method needs.
type Cache[_ any, string any, err comparable] interface {
	base
	//ratelimit:count=2 time=1h
	Put(key err, value string) (err, string, error)
}

// Pool has a constraint that reads like the length of an array.
type Pool[P *int,] interface {
	//ratelimit:count=2 time=1h
	Get() (P, error)
}

// Index has type parameters that are called like parameters, and like what the decorator declares for itself.
type Index[next any, id comparable, zero any] interface {
	//ratelimit:count=2 time=1h
	Get(id id) (next, error)
	//ratelimit:count=2 time=1h
	Put(next next, zero zero) (zero, error)
}
