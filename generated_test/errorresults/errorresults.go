// Package errorresults has errors in all places: twice, under other names, behind others, and embedded in a type.
package errorresults

type E = error

type PathError struct{ Path string }

func (e *PathError) Error() string { return e.Path }

// Coded is an error, and not the type error.
type Coded interface {
	error
	Code() int
}

type Results interface {
	//ratelimit:count=1 time=1h
	Twice() (a error, b error)
	//ratelimit:count=1 time=1h
	Alias() (int, E)
	//ratelimit:count=1 time=1h refund={ret0 == nil && ret1 == nil && err == nil}
	Before() (*PathError, Coded, error)
	//ratelimit:count=1 time=1h
	Parameter(err error, _ E) (error, error)
	Concrete() (*PathError, bool)
	First() (error, int)
}
