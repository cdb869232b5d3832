// This program serves gRPC's health service behind a decorator that limits its calls and streams, calls it as two clients,
// and shows what they are told. It exits with status 0 only if each client was limited as the directives say. The buckets
// live in its memory.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/signal"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/grpclimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "grpc:", err)
		os.Exit(1)
	}
}

// run serves on a free loopback port and calls the server.
func run(ctx context.Context, out io.Writer) error {
	server, err := newServer()
	if err != nil {
		return err
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	fmt.Fprintf(out, "Serving on %s.\n", listener.Addr())

	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err == nil {
		err = demo(ctx, out, healthpb.NewHealthClient(conn))
		_ = conn.Close() // it has nothing left to send
	}
	server.Stop() // it serves nobody but the demo
	if serving := <-served; err == nil {
		err = serving
	}
	return err
}

// newServer returns a server of the limited service.
func newServer() (*grpc.Server, error) {
	limiter, err := ratelimit.New(memlimit.New())
	if err != nil {
		return nil, err
	}
	// The demo's clients reach the server through a proxy on this machine, which tells their addresses.
	loopback := httplimit.TrustedProxies(netip.MustParsePrefix("127.0.0.0/8"))
	limits, err := grpclimit.NewInterceptor(grpclimit.ClientIP(loopback))
	if err != nil {
		return nil, err
	}
	server := grpc.NewServer(grpc.ChainUnaryInterceptor(limits.Unary), grpc.ChainStreamInterceptor(limits.Stream))
	healthpb.RegisterHealthServer(server, NewRateLimitedHealthServer(health.NewServer(), limiter))
	return server, nil
}
