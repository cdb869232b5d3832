package connectlimit

import (
	"context"
	"errors"
	"strconv"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
)

// Error returns an error of the limiter, which may be wrapped, as a [*connect.Error]; it still wraps the limiter's. Any
// other error, and nil, it returns as it is. An [Interceptor] does this for every call: it is for code that gives errors a
// code before.
//
// An error that has a code already keeps it: of errors that wrap each other the outermost counts. Of errors that are joined,
// the limiter's counts, and of these a refusal, which is the one that is certain.
//
// A [*ratelimit.LimitError] becomes CodeResourceExhausted, which Connect answers 429. Its details are a RetryInfo with the
// wait, unless no wait can help, and a QuotaFailure that names the limits that refused; the wait is also in Retry-After, in
// whole seconds, rounded up, which is a header of the response or, of streams and of gRPC, a trailer. Its message is what
// [httplimit.Advice] says, the directive's message if it has one. The directive's status is for plain HTTP only.
//
// A [*ratelimit.DecisionError] becomes CodeUnavailable, or CodeCanceled or CodeDeadlineExceeded if the call ended before it
// was decided. Neither the key of a bucket nor the text of an error leaves the server.
func Error(err error) error {
	switch refused, undecided := find(err); {
	case refused != nil:
		return refusal(refused, err)
	case undecided != nil:
		return ignorance(undecided, err)
	}
	return err
}

// find returns the error of the limiter that err comes down to, if it has no code before.
func find(err error) (refused *ratelimit.LimitError, undecided *ratelimit.DecisionError) {
	for {
		switch e := err.(type) { //nolint:errorlint // each link of the chain is looked at
		case *connect.Error:
			return nil, nil
		case *ratelimit.LimitError:
			return e, nil
		case *ratelimit.DecisionError:
			return nil, e
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		case interface{ Unwrap() []error }:
			for _, err := range e.Unwrap() {
				refused, other := find(err)
				if refused != nil {
					return refused, nil
				}
				if undecided == nil {
					undecided = other
				}
			}
			return nil, undecided
		default:
			return nil, nil
		}
	}
}

// said is an error with the text that the caller is told in place of its own.
type said struct {
	text string
	error
}

// Error returns the text.
func (s *said) Error() string { return s.text }

// Unwrap returns the error.
func (s *said) Unwrap() error { return s.error }

func refusal(e *ratelimit.LimitError, err error) *connect.Error {
	text, wait := httplimit.Advice(e)
	c := connect.NewError(connect.CodeResourceExhausted, &said{text, err})
	if wait != ratelimit.Never {
		seconds := int64((wait-1)/time.Second) + 1
		c.Meta().Set("Retry-After", strconv.FormatInt(seconds, 10))
		addDetail(c, &errdetails.RetryInfo{RetryDelay: durationpb.New(wait)})
	}
	quota := &errdetails.QuotaFailure{}
	for _, o := range e.Refused {
		quota.Violations = append(quota.Violations, &errdetails.QuotaFailure_Violation{
			Subject:     o.Name, // for clients that do not know QuotaId, which is younger
			Description: text,
			QuotaId:     o.Name,
			QuotaValue:  o.Limit.Count,
		})
	}
	addDetail(c, quota)
	return c
}

// addDetail leaves out what cannot be marshaled: a name or message that is not UTF-8, and not the generator's.
func addDetail(c *connect.Error, m proto.Message) {
	if d, err := connect.NewErrorDetail(m); err == nil {
		c.AddDetail(d)
	}
}

func ignorance(e *ratelimit.DecisionError, err error) *connect.Error {
	switch {
	case errors.Is(e, context.Canceled):
		return connect.NewError(connect.CodeCanceled, &said{context.Canceled.Error(), err})
	case errors.Is(e, context.DeadlineExceeded):
		return connect.NewError(connect.CodeDeadlineExceeded, &said{context.DeadlineExceeded.Error(), err})
	}
	return connect.NewError(connect.CodeUnavailable, &said{"The limit of the request could not be checked.", err})
}
