package connectlimit_test

import (
	"context"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/emptypb"
)

type empty = emptypb.Empty

// Service has the shape of the handler interfaces that protoc-gen-connect-go writes.
type Service interface {
	Unary(ctx context.Context, req *connect.Request[empty]) (*connect.Response[empty], error)
	ServerStream(ctx context.Context, req *connect.Request[empty], stream *connect.ServerStream[empty]) error
	ClientStream(ctx context.Context, stream *connect.ClientStream[empty]) (*connect.Response[empty], error)
	BidiStream(ctx context.Context, stream *connect.BidiStream[empty, empty]) error
}

// Rated limits calls of each shape: a stream is one call.
//
//ratelimit:rate=1/m algorithm=fixed-window by=ip
type Rated Service

// Slotted limits how many calls of each shape run at once.
//
//ratelimit:algorithm=concurrency count=1 time=1h by=user
type Slotted Service
