// Package functypes has parameters and results of function types.
package functypes

type Hooks interface {
	//ratelimit:count=2 time=1h
	On(name string, fn func(args ...string) (n int, err error)) error
	//ratelimit:count=2 time=1h
	Wrap(f func(int) func(string) (bool, error)) (func(...func()) func(), error)
	All(fns ...func(xs ...int) (int, error)) (undo func() error)
}
