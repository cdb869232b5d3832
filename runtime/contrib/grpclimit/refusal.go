package grpclimit

import (
	"cmp"
	"errors"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// Refusal is what a server told the caller whom it refused.
type Refusal struct {
	Message    string        // for people
	RetryAfter time.Duration // after how long the same call would be admitted; [ratelimit.Never] if the server names no wait
	Limits     []string      // names of the limits that refused, in the order of the directives
}

// ReadRefusal reads the error of a client's call, and reports whether the call was over a limit. A ResourceExhausted
// without a RetryInfo or a QuotaFailure, such as that of a message that is too large, does not count.
func ReadRefusal(err error) (r Refusal, refused bool) {
	var coded interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &coded) {
		return Refusal{}, false
	}
	s := coded.GRPCStatus() // [status.Convert] puts what wraps the error into the message
	if s.Code() != codes.ResourceExhausted {
		return Refusal{}, false
	}
	r = Refusal{Message: s.Message(), RetryAfter: ratelimit.Never}
	for _, detail := range s.Details() {
		switch d := detail.(type) {
		case *errdetails.RetryInfo:
			r.RetryAfter, refused = max(0, d.GetRetryDelay().AsDuration()), true
		case *errdetails.QuotaFailure:
			refused = true
			for _, v := range d.GetViolations() {
				r.Limits = append(r.Limits, cmp.Or(v.GetQuotaId(), v.GetSubject()))
			}
		}
	}
	if !refused {
		return Refusal{}, false
	}
	return r, true
}
