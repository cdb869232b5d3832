// Package num has a constraint and a type that satisfies it.
package num

// Key is that of a tenant in a context.
type Key struct{}

type Real interface{ ~int | ~float64 }

type Meters float64
