package grpclimit

import (
	"context"
	"errors"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/httplimit"
)

// Error returns an error of the limiter, which may be wrapped, as one with a status; it still wraps the limiter's. Any other
// error, and nil, it returns as it is. An [Interceptor] does this for every call: it is for code that gives errors a status
// before.
//
// An error that has a status already keeps it: of errors that wrap each other the outermost counts. Of errors that are joined,
// the limiter's counts, and of these a refusal, which is the one that is certain.
//
// A [*ratelimit.LimitError] becomes ResourceExhausted. Its details are a RetryInfo with the wait, unless no wait can help,
// and a QuotaFailure that names the limits that refused; its message is what [httplimit.Advice] says, the directive's
// message if it has one. The directive's status is for HTTP only. A [*ratelimit.DecisionError] becomes Unavailable, or
// Canceled or DeadlineExceeded if the call ended before it was decided. No status holds the key of a bucket or the text of
// an error.
func Error(err error) error {
	if _, ok := err.(*statusError); ok { //nolint:errorlint // one that is wrapped is given its status anew, without that text
		return err
	}
	switch refused, undecided := find(err); {
	case refused != nil:
		text, wait := httplimit.Advice(refused)
		return &statusError{refusal(refused, text, wait), wait, err}
	case undecided != nil:
		return &statusError{ignorance(undecided), ratelimit.Never, err}
	}
	return err
}

// find returns the error of the limiter that err comes down to, if it has no status before.
func find(err error) (refused *ratelimit.LimitError, undecided *ratelimit.DecisionError) {
	for {
		switch e := err.(type) { //nolint:errorlint // each link of the chain is looked at
		case *statusError: // of ours
			err = e.error
		case interface{ GRPCStatus() *status.Status }:
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

// statusError is an error with a status. Interceptors outside of ours still find the limiter's error in it.
type statusError struct {
	status *status.Status
	wait   time.Duration // after which to try again; Never if nobody knows
	error
}

// Error returns what an error of package status would say.
func (e *statusError) Error() string { return e.status.Err().Error() }

// GRPCStatus is where gRPC takes the status from.
func (e *statusError) GRPCStatus() *status.Status { return e.status }

// Unwrap returns the error that was given the status.
func (e *statusError) Unwrap() error { return e.error }

func refusal(e *ratelimit.LimitError, text string, wait time.Duration) *status.Status {
	quota := &errdetails.QuotaFailure{}
	for _, o := range e.Refused {
		quota.Violations = append(quota.Violations, &errdetails.QuotaFailure_Violation{
			Subject:     o.Name, // for clients that do not know QuotaId, which is younger
			Description: text,
			QuotaId:     o.Name,
			QuotaValue:  o.Limit.Count,
		})
	}
	bare := status.New(codes.ResourceExhausted, text)
	var full *status.Status
	var err error
	if wait == ratelimit.Never {
		full, err = bare.WithDetails(quota)
	} else {
		full, err = bare.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(wait)}, quota)
	}
	if err != nil { // a name or message that is not UTF-8, and not the generator's
		return bare
	}
	return full
}

func ignorance(e *ratelimit.DecisionError) *status.Status {
	switch {
	case errors.Is(e, context.Canceled):
		return status.New(codes.Canceled, context.Canceled.Error())
	case errors.Is(e, context.DeadlineExceeded):
		return status.New(codes.DeadlineExceeded, context.DeadlineExceeded.Error())
	}
	return status.New(codes.Unavailable, "The limit of the request could not be checked.")
}
