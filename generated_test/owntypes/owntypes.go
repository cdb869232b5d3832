// Package owntypes has an unexported interface, and parameters that are called like their own types and like it.
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
