// Package owntypes has an unexported interface, parameters that are called like their own types and like it, and an
// exported interface that nobody else can implement.
package owntypes

type job struct{ id int }

type runner interface {
	//ratelimit:count=2 time=1h
	Do(job job) (runner runner, err error)
	// Copy hides the type of its own result.
	//
	//ratelimit:count=2 time=1h
	Copy(job job) (job, error)
	Swap(job, other job) (job, job)
	//ratelimit:count=2 time=1h
	stop(runner) error
}

type verb int

type reply struct{ verb verb }

// Client has types that only this package can name.
type Client interface {
	//ratelimit:key=call:{verb} count=2 time=1h
	Call(verb verb, path string) (*reply, error)
	close()
}
