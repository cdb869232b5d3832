// Package typeparamkeys has keys whose types are type parameters.
package typeparamkeys

import (
	"context"
	"fmt"
)

type Name interface{ ~string }

type Number interface {
	~int8 | ~int64
	comparable
}

type Word interface {
	Name
	fmt.Stringer
}

type Pair[K any] struct {
	Key   K
	Other *Pair[K]
}

func keyOf[K any](p *Pair[K]) K { return p.Key }

type Cache[K Name, N Number, W Word, B ~[]byte, S fmt.Stringer, V any] interface {
	//ratelimit:key={key}:{n}:{w}:{b}:{s} count=1 time=1h
	Get(ctx context.Context, key K, n N, w W, b B, s S) (V, error)
	//ratelimit:key={p.Key}:{p.Other.Key}:{keyOf(p)}:{string(K("k"))}:{len(b)} count=1 time=1h cost={n} refund={ret0.Other.Key == "x"}
	Put(ctx context.Context, p *Pair[K], n N, b B) (*Pair[K], error)
	//ratelimit:key={keys[0]}:{all["x"]}:{b[0]} count=1 time=1h
	Several(all map[string]N, b B, keys ...K) error
}

type Names interface {
	Base[string]
}

type Base[T ~string] interface {
	//ratelimit:key={id}:{p.Key} count=1 time=1h
	Find(id T, p *Pair[T]) error
}

// Meter has a type parameter that is an integer of either sign, or none.
type Meter[N ~int | ~uint8 | ~float64, U int | uint] interface {
	//ratelimit:key=meter:{n > 0}:{int(100 / n)} count=4 time=1h cost={u}
	Read(n N, u U) error
}
