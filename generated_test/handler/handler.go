// Package handler has the shapes of HTTP handlers: the decorator answers for them.
package handler

import "net/http"

type Pages interface {
	//ratelimit:key=home count=2 time=1h ip status=503
	Home(w http.ResponseWriter, r *http.Request)
	// API may fail, as the handlers of many routers may.
	//
	//ratelimit:key=api count=2 time=1h
	API(http.ResponseWriter, *http.Request) error
	// Health is for the load balancer.
	Health(w http.ResponseWriter, r *http.Request)
}

// Mixed has handlers beside methods of other shapes.
type Mixed interface {
	//ratelimit:key=hook count=1 time=1h
	Hook(next http.ResponseWriter, err *http.Request)
	//ratelimit:key=sync count=1 time=1h
	Sync(r *http.Request, limit int) (done int, err error)
}
