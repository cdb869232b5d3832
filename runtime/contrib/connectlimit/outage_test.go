package connectlimit_test

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/connectlimit"
	"github.com/ratelimitgen/ratelimitgen/runtime/memlimit"
)

// downStore is a Store that cannot be reached.
type downStore struct{}

func (downStore) fail() error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
}

func (s downStore) Take(context.Context, []ratelimit.Charge, []ratelimit.Result) error {
	return s.fail()
}

func (s downStore) Peek(context.Context, []ratelimit.Charge, []ratelimit.Result) error {
	return s.fail()
}
func (s downStore) Refund(context.Context, []ratelimit.Charge) error { return s.fail() }
func (s downStore) Reset(context.Context, []ratelimit.Charge) error  { return s.fail() }

const ok connect.Code = 0 // connect has no name for it

func codeOf(err error) connect.Code {
	if err == nil {
		return ok
	}
	return connect.CodeOf(err)
}

// S14, H16: over each protocol, an outage is not answered as a refusal. Only where the calls are decided in this process's
// memory can one be over the limit.
func TestOutageIsNoRefusal(t *testing.T) {
	for failure, want := range map[ratelimit.Failure][]connect.Code{
		ratelimit.FailLocal:  {ok, connect.CodeResourceExhausted},
		ratelimit.FailOpen:   {ok, ok},
		ratelimit.FailClosed: {connect.CodeUnavailable, connect.CodeUnavailable},
	} {
		for protocol, option := range protocols {
			for name, call := range shapes {
				t.Run(string(failure)+"/"+protocol+"/"+name, func(t *testing.T) {
					limiter := newLimiter(t, downStore{}, ratelimit.LocalStore(memlimit.New()), ratelimit.OnFailure(failure))
					c := serve(t, server{peer: "203.0.113.9:1", service: NewRateLimitedRated(service{}, limiter), client: option})
					for i, code := range want {
						_, err := call(t.Context(), c)
						if codeOf(err) != code {
							t.Errorf("call %d: got %v, want %v", i+1, err, code)
						}
						if _, refused := connectlimit.ReadRefusal(err); refused != (code == connect.CodeResourceExhausted) {
							t.Errorf("call %d: %v is read as a refusal: %t", i+1, err, refused)
						}
						if code == connect.CodeUnavailable && err.Error() != "unavailable: The limit of the request could not be checked." {
							t.Errorf("call %d: the caller is told %v", i+1, err)
						}
					}
				})
			}
		}
	}
}

// The server ends a call that its client no longer waits for by the context's code, not as an outage.
func TestCallThatEndedIsNoOutage(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	expired, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for want, ctx := range map[connect.Code]context.Context{
		connect.CodeCanceled:         canceled,
		connect.CodeDeadlineExceeded: expired,
	} {
		guard := newLimiter(t, nil).Guard("m", ratelimit.Rule{Key: "k", Limit: ratelimit.Limit{Count: 1, Period: time.Hour}})
		err := connectlimit.Error(guard.Allow(ctx))
		if codeOf(err) != want || err.Error() != want.String()+": "+ctx.Err().Error() {
			t.Errorf("got %v, want %v", err, want)
		}
		if !errors.Is(err, ctx.Err()) {
			t.Errorf("%v does not wrap %v", err, ctx.Err())
		}
	}
}
