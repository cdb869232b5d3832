package grpc_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	limited "github.com/ratelimitgen/ratelimitgen/generated_test/grpc"
	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// caller takes the user out of the metadata. A program would take it from a token that it has verified.
func caller(ctx context.Context) context.Context {
	if users := metadata.ValueFromIncomingContext(ctx, "user"); len(users) > 0 {
		return ratelimit.WithCaller(ctx, "user", users[0])
	}
	return ctx
}

// refusal turns a refusal into a status.
func refusal(err error) error {
	if errors.Is(err, ratelimit.ErrLimited) {
		return status.Error(codes.ResourceExhausted, err.Error())
	}
	return err
}

type stream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s stream) Context() context.Context { return s.ctx }

// dial serves the health service behind its limits, and returns a client of it.
func dial(t *testing.T) healthpb.HealthClient {
	t.Helper()
	limiter, err := ratelimit.New(memlimit.New())
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(
		grpc.UnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			resp, err := handler(caller(ctx), req)
			return resp, refusal(err)
		}),
		grpc.StreamInterceptor(func(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
			return refusal(handler(srv, stream{ss, caller(ss.Context())}))
		}),
	)
	healthpb.RegisterHealthServer(server, limited.NewRateLimitedHealthServer(health.NewServer(), limiter))
	listener := bufconn.Listen(1 << 16)
	served := make(chan error)
	go func() { served <- server.Serve(listener) }()
	conn, err := grpc.NewClient("passthrough:///health", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return healthpb.NewHealthClient(conn)
}

func TestHealthServer(t *testing.T) {
	client := dial(t)
	calls := map[string]func(ctx context.Context) error{
		"Check": func(ctx context.Context) error {
			resp, err := client.Check(ctx, &healthpb.HealthCheckRequest{})
			if err == nil && resp.Status != healthpb.HealthCheckResponse_SERVING {
				t.Errorf("Check: got %v", resp)
			}
			return err
		},
		"Watch": func(ctx context.Context) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			watch, err := client.Watch(ctx, &healthpb.HealthCheckRequest{})
			if err != nil {
				return err
			}
			resp, err := watch.Recv()
			if err == nil && resp.Status != healthpb.HealthCheckResponse_SERVING {
				t.Errorf("Watch: got %v", resp)
			}
			return err
		},
	}
	for _, user := range []string{"ann", "bob"} {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "user", user)
		for method, call := range calls {
			for i, want := range []codes.Code{codes.OK, codes.OK, codes.ResourceExhausted} {
				if got := status.Code(call(ctx)); got != want {
					t.Errorf("call %d of %s by %s: got %v, want %v", i+1, method, user, got, want)
				}
			}
		}
		for range 5 { // not named by the line
			resp, err := client.List(ctx, &healthpb.HealthListRequest{})
			if err != nil || len(resp.Statuses) != 1 {
				t.Fatalf("List: got %v, %v", resp, err)
			}
		}
	}
	// An unknown service is the server's error, not the limiter's.
	ctx := metadata.AppendToOutgoingContext(t.Context(), "user", "eve")
	if _, err := client.Check(ctx, &healthpb.HealthCheckRequest{Service: "none"}); status.Code(err) != codes.NotFound {
		t.Errorf("got %v, want NotFound", err)
	}
}
