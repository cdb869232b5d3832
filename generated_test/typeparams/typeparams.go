// Package typeparams has type parameters that are called as unnamed parameters of their types would be.
package typeparams

import "context"

type Job struct{ No int }

type Box[t, job, s, time, err any] interface {
	//ratelimit:count=2 time=1h
	Put(t, job, *job) error
	//ratelimit:count=2 time=1h
	Run(Job, string, string, error) (s, err, error)
	//ratelimit:count=2 time=1h
	Swap(s, s) (s, s, error)
	At(time, context.Context) time
}
