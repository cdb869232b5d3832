// Package api has an interface that only its own package can implement, as generated gRPC servers may have.
package api

import "context"

type Server interface {
	Check(ctx context.Context, name string) (bool, error)
	Watch(name string)
	mustEmbedUnimplementedServer()
}

// Sealed has no method that cannot be refused but the private one.
type Sealed interface {
	Get(ctx context.Context) error
	mustEmbedUnimplementedServer()
}

// UnimplementedServer is what implementations embed.
type UnimplementedServer struct{}

func (UnimplementedServer) mustEmbedUnimplementedServer() {}
