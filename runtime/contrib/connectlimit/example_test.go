package connectlimit_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/grpchealth"
	"google.golang.org/protobuf/types/known/emptypb"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/connectlimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// Checker limits each client to one check a minute.
//
//ratelimit:rate=1/m by=ip
type Checker grpchealth.Checker

// A limited service, its server, and a client who is refused.
func Example() {
	limiter, err := ratelimit.New(memlimit.New())
	if err != nil {
		log.Fatal(err)
	}
	limits, err := connectlimit.NewInterceptor()
	if err != nil {
		log.Fatal(err)
	}
	checker := NewRateLimitedChecker(grpchealth.NewStaticChecker(), limiter)
	mux := http.NewServeMux()
	mux.Handle(grpchealth.NewHandler(checker, connect.WithInterceptors(limits)))

	server := httptest.NewServer(mux)
	defer server.Close()
	// A client is generated, too, where the service is the program's own.
	client := connect.NewClient[emptypb.Empty, emptypb.Empty](server.Client(), server.URL+"/grpc.health.v1.Health/Check")
	for range 2 {
		_, err := client.CallUnary(context.Background(), connect.NewRequest(&emptypb.Empty{}))
		if r, refused := connectlimit.ReadRefusal(err); refused {
			fmt.Printf("over the limit %s, try again in %v\n", r.Limits[0], r.RetryAfter.Round(time.Minute))
			continue
		}
		fmt.Println("error:", err)
	}
	// Output:
	// error: <nil>
	// over the limit 1m, try again in 1m0s
}
