package grpclimit_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/grpclimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// HealthServer limits each client to one check a minute.
//
//ratelimit:rate=1/m by=ip methods=Check
type HealthServer healthpb.HealthServer

// A limited service, its server, and a client who is refused.
func Example() {
	limiter, err := ratelimit.New(memlimit.New())
	if err != nil {
		log.Fatal(err)
	}
	limits, err := grpclimit.NewInterceptor()
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer(grpc.ChainUnaryInterceptor(limits.Unary), grpc.ChainStreamInterceptor(limits.Stream))
	healthpb.RegisterHealthServer(server, NewRateLimitedHealthServer(health.NewServer(), limiter))

	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()
	defer conn.Close()

	client := healthpb.NewHealthClient(conn)
	for range 2 {
		resp, err := client.Check(context.Background(), &healthpb.HealthCheckRequest{})
		if r, refused := grpclimit.ReadRefusal(err); refused {
			fmt.Printf("over the limit %s, try again in %v\n", r.Limits[0], r.RetryAfter.Round(time.Minute))
			continue
		}
		fmt.Println(resp.GetStatus(), err)
	}
	// Output:
	// SERVING <nil>
	// over the limit 1m, try again in 1m0s
}
