// Package genericfallbacks has fallbacks with type parameters.
package genericfallbacks

import (
	"context"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

type Repo[K comparable, V any] interface {
	//ratelimit:count=1 time=1h fallback=zero
	Get(ctx context.Context, key K) (V, error)
	// Inferred needs no type arguments.
	//
	//ratelimit:count=1 time=1h fallback=echo
	Inferred(ctx context.Context, key K) (K, error)
	//ratelimit:count=1 time=1h fallback=all
	All(ctx context.Context, keys ...K) (map[K]V, error)
	//ratelimit:count=1 time=1h fallback=allFor
	AllTold(ctx context.Context, keys ...K) (map[K]V, error)
	//ratelimit:count=1 time=1h fallback=Get
	Method(ctx context.Context, key K) (V, error)
	// Fixed has no type parameter in its signature.
	//
	//ratelimit:count=1 time=1h fallback=fixed
	Fixed(n int) int
	//ratelimit:count=1 time=1h fallback=zero
	Instance(ctx context.Context, key string) (int, error)
	//ratelimit:count=1 time=1h fallback=echo
	Hidden(echo context.Context, zero K) (K, error)
}

// Names has type parameters that are called like the fallbacks.
type Names[zero, echo any] interface {
	//ratelimit:count=1 time=1h fallback=pair
	Pair(a zero) (echo, error)
	//ratelimit:count=1 time=1h fallback=echo
	Echo(ctx context.Context, text string) (string, error)
}

// Users is not generic, but embeds what is.
type Users interface {
	Repo[string, User]
	//ratelimit:count=1 time=1h fallback=zero
	Own(ctx context.Context, key User) (*User, error)
}

type User struct{ Name string }

func zero[V, K any](_ context.Context, _ K) (V, error) {
	var v V
	return v, nil
}

func echo[T comparable](_ context.Context, v T) (T, error) { return v, nil }

func all[K comparable, V any](ctx context.Context, keys ...K) (map[K]V, error) {
	values := map[K]V{}
	for _, key := range keys {
		var zero V
		values[key] = zero
	}
	return values, ctx.Err()
}

func allFor[M ~map[K]V, K comparable, V any](ctx context.Context, keys []K, _ *ratelimit.LimitError) (M, error) {
	return all[K, V](ctx, keys...)
}

func fixed(n int) int { return -n }

func pair[B, A any](A) (B, error) {
	var b B
	return b, nil
}
