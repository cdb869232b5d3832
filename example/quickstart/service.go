package main

import (
	"context"
	"fmt"
	"net/http"
)

//go:generate go tool ratelimitgen

// Result is what TestGet answers.
type Result struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// TestService is the service of this example.
type TestService interface {
	// TestGet allows each client IP five calls a second.
	//
	//ratelimit:key=testGet time=1 count=5 ip=true
	TestGet(ctx context.Context, id string) (*Result, error)
}

// StatusPage has the shape of an HTTP handler: its decorator answers refused callers by itself.
type StatusPage interface {
	// ServeHTTP allows all clients together two calls in a window of one minute.
	//
	//ratelimit:key=status rate=2/m algorithm=fixed-window status=503 message="The status page is busy."
	ServeHTTP(w http.ResponseWriter, r *http.Request)
}

// service is the implementation, which knows nothing of limits.
type service struct{}

func (service) TestGet(_ context.Context, id string) (*Result, error) {
	return &Result{ID: id, Text: "hello"}, nil
}

func (service) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprintln(w, "all is well")
}
