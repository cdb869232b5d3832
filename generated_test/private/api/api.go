// Package api has an interface that only its own package can implement, as generated gRPC servers may have.
package api

import "context"

type Server interface {
	Check(ctx context.Context, name string) (bool, error)
	Watch(name string)
	mustEmbedUnimplementedServer()
}

// UnimplementedServer is what implementations embed.
type UnimplementedServer struct{}

func (UnimplementedServer) mustEmbedUnimplementedServer() {}
