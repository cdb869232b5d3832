// Package locks has results that must not be copied once they are used, which go vet watches over.
package locks

import "sync"

type Counter struct {
	mu sync.Mutex
	n  int
}

type Bank interface {
	//ratelimit:count=2 time=1h
	Open() (Counter, struct{ N [2]sync.RWMutex }, error)
	// Pair has a parameter that hides the type of a result, and one that hides its package.
	//
	//ratelimit:count=2 time=1h
	Pair(Counter, sync int) ([2]Counter, struct{ M sync.Mutex }, error)
	// Share returns pointers, which may be copied.
	//
	//ratelimit:count=2 time=1h
	Share(Counter int) (*Counter, struct{ L sync.Locker }, error)
}
