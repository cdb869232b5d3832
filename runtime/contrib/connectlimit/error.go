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
// other error, nil, and one that has a code itself, it returns as it is. An [Interceptor] does this for every call: it is
// for code that gives errors a code before.
//
// A [*ratelimit.LimitError] becomes CodeResourceExhausted, which Connect answers 429. Its details are a RetryInfo with the
// wait, unless no wait can help, and a QuotaFailure that names the limits that refused; the wait is also in Retry-After, in
// whole seconds, rounded up, which is a header of the response or, of streams and of gRPC, a trailer. Its message is what
// [httplimit.Advice] says, the directive's message if it has one. The directive's status is for plain HTTP only.
//
// A [*ratelimit.DecisionError] becomes CodeUnavailable, or CodeCanceled or CodeDeadlineExceeded if the call ended before it
// was decided. If both are joined, the refusal counts, which is the one that is certain. Neither the key of a bucket nor the
// text of an error leaves the server.
func Error(err error) error {
	var coded *connect.Error
	if errors.As(err, &coded) {
		return err
	}
	var refused *ratelimit.LimitError
	if errors.As(err, &refused) && refused != nil {
		return refusal(refused, err)
	}
	var undecided *ratelimit.DecisionError
	if errors.As(err, &undecided) && undecided != nil {
		return ignorance(undecided, err)
	}
	return err
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
