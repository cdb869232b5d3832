package connectlimit

import (
	"cmp"
	"errors"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
)

// Refusal is what a server told the caller whom it refused.
type Refusal struct {
	Message    string        // for people
	RetryAfter time.Duration // after how long the same call would be admitted; [ratelimit.Never] if the server names no wait
	Limits     []string      // names of the limits that refused, in the order of the directives
}

// ReadRefusal reads the error of a client's call, and reports whether the call was over a limit. A
// [connect.CodeResourceExhausted] without a RetryInfo or a QuotaFailure, such as that of a message that is too large, does
// not count.
func ReadRefusal(err error) (r Refusal, refused bool) {
	var coded *connect.Error
	if !errors.As(err, &coded) || coded.Code() != connect.CodeResourceExhausted {
		return Refusal{}, false
	}
	r = Refusal{Message: coded.Message(), RetryAfter: ratelimit.Never}
	for _, detail := range coded.Details() {
		value, err := detail.Value()
		if err != nil { // a type that this program does not know
			continue
		}
		switch d := value.(type) {
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
