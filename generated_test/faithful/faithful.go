// Package faithful has methods of many shapes, called through decorators and without.
package faithful

import "context"

type Point struct {
	X, Y  int
	Label *string
}

type Everything interface {
	Values(n int, text string, bytes []byte, set map[string]bool, point *Point, pair [2]int8, v any) (int, string, []byte, map[string]bool, *Point, [2]int8, any, error)
	Variadic(prefix string, rest ...int) (string, []int, error)
	Interfaces(ctx context.Context, err error, vs ...any) (context.Context, []any, error)
	Functions(f func(int) int, c <-chan int) (func(int) int, <-chan int, error)
	Named(a, b int, _ string) (sum, product int, err error)
	Panics(v any) error
	Nothing()
	Len(values ...string) (n int)
}

//ratelimit:count=1000000 methods=Values,Variadic,Interfaces,Functions,Named,Panics
type Plain interface {
	Everything
}

//ratelimit:count=1000000 name=keyed key=faithful:{$0} onempty=share methods=Values,Variadic,Named
//ratelimit:count=1000000 name=costly cost={len($1)} methods=Values,Variadic
//ratelimit:count=1000000 name=skipped skip={$0 == nil} methods=Interfaces,Functions,Panics
//ratelimit:count=1000000 name=refunded refund={err == nil} methods=Values,Variadic,Functions,Named,Panics
//ratelimit:count=1 name=slots algorithm=concurrency methods=Values,Variadic,Functions,Named,Panics
type Elaborate interface {
	Everything
}
