package main

import healthpb "google.golang.org/grpc/health/grpc_health_v1"

//go:generate go tool ratelimitgen

// HealthServer is the service of this example, a server interface that protoc has written. Each client may check five times
// a second, and watch once at a time, for as long as it likes.
//
//ratelimit:rate=5/s by=ip methods=Check
//ratelimit:algorithm=concurrency count=1 name=streams by=ip methods=Watch
type HealthServer healthpb.HealthServer
