package main

import (
	"context"
	"fmt"
	"io"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/grpclimit"
)

const (
	checks  = 7 // of each client, of which 5 are within the limit
	allowed = 5
	// refill is when the first token comes back. Calls that took longer say nothing about a limit of five.
	refill = time.Second / allowed
	tries  = 5
)

// demo calls the service as two clients and returns an error unless each was limited to five checks and one watch.
func demo(ctx context.Context, out io.Writer, service healthpb.HealthClient) error {
	for _, address := range []string{"203.0.113.7", "2001:db8:1:2::42"} {
		// The proxy in front would add it.
		ctx := metadata.AppendToOutgoingContext(ctx, "x-forwarded-for", address)
		c := client{address, service, out}
		if err := c.check(ctx); err != nil {
			return err
		}
		if err := c.watch(ctx); err != nil {
			return err
		}
	}
	return nil
}

// client calls the service from an address.
type client struct {
	address string
	service healthpb.HealthClient
	out     io.Writer
}

// check makes calls at once and checks how many were allowed. On a machine so slow that a token came back meanwhile it waits
// until the bucket is full and calls again.
func (c client) check(ctx context.Context) error {
	fmt.Fprintf(c.out, "\n%s checks %d times at once, and the service allows %d a second:\n\n", c.address, checks, allowed)
	for range tries {
		passed, start := 0, time.Now()
		for range checks {
			_, err := c.service.Check(ctx, &healthpb.HealthCheckRequest{})
			ok, err := c.tell("Check", err)
			if err != nil {
				return err
			}
			if ok {
				passed++
			}
		}
		took := time.Since(start)
		if passed == allowed {
			return nil
		}
		if took < refill {
			return fmt.Errorf("%s: %d of %d checks allowed in %v, want %d", c.address, passed, checks, took, allowed)
		}
		fmt.Fprintf(c.out, "The calls took %v, in which tokens came back. Once more.\n\n", took.Round(time.Millisecond))
		time.Sleep(time.Second)
	}
	return fmt.Errorf("%s: %d checks took longer than %v in each of %d tries", c.address, checks, refill, tries)
}

// watch opens a stream, another beside it, which is refused, and one more when the first has ended.
func (c client) watch(ctx context.Context) error {
	fmt.Fprintf(c.out, "\n%s watches twice, and the service allows one stream at once:\n\n", c.address)
	first, leave, err := c.open(ctx)
	if err != nil {
		return err
	}
	second, leaveSecond, err := c.open(ctx)
	leaveSecond()
	leave()
	switch {
	case err != nil:
		return err
	case !first || second:
		return fmt.Errorf("%s: streams were opened: %t and %t, want the first only", c.address, first, second)
	}

	fmt.Fprint(c.out, "\nIt leaves, and watches again:\n\n")
	for range tries {
		ok, leave, err := c.open(ctx)
		leave()
		if ok || err != nil {
			return err
		}
		time.Sleep(time.Second) // the server is still taking note
	}
	return fmt.Errorf("%s: the stream that had ended kept its slot", c.address)
}

// open opens a stream until leave is called, and reports whether it was allowed.
func (c client) open(ctx context.Context) (ok bool, leave func(), err error) {
	ctx, leave = context.WithCancel(ctx)
	stream, err := c.service.Watch(ctx, &healthpb.HealthCheckRequest{})
	if err == nil {
		_, err = stream.Recv()
	}
	ok, err = c.tell("Watch", err)
	return ok, leave, err
}

// tell prints what a call was answered and reports whether it was allowed. An error that is no refusal it returns.
func (c client) tell(method string, err error) (ok bool, _ error) {
	r, refused := grpclimit.ReadRefusal(err)
	switch {
	case refused:
		fmt.Fprintf(c.out, "%-17s %s  %v by the limit %q, try again in %v\n", c.address, method, status.Code(err), r.Limits[0], r.RetryAfter.Round(time.Millisecond))
		return false, nil
	case err != nil:
		return false, err
	}
	_, err = fmt.Fprintf(c.out, "%-17s %s  OK\n", c.address, method)
	return true, err
}
