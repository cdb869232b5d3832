// Package grpc limits the server interface of the gRPC health service, unary and streaming. It is a module of its own, so
// that gRPC stays out of the root's go.mod.
package grpc

import healthpb "google.golang.org/grpc/health/grpc_health_v1"

// HealthServer limits each client.
//
//ratelimit:count=2 time=1h by=user methods=Check,Watch
type HealthServer healthpb.HealthServer
