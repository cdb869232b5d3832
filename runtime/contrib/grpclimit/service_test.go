package grpclimit_test

import testgrpc "google.golang.org/grpc/interop/grpc_testing"

// Rated limits calls of each shape: a stream is one call.
//
//ratelimit:rate=1/m algorithm=fixed-window by=ip methods=EmptyCall,StreamingOutputCall,StreamingInputCall,FullDuplexCall
type Rated testgrpc.TestServiceServer

// Slotted limits how many calls of each shape run at once.
//
//ratelimit:algorithm=concurrency count=1 time=1h by=user methods=EmptyCall,StreamingOutputCall,StreamingInputCall,FullDuplexCall
type Slotted testgrpc.TestServiceServer
