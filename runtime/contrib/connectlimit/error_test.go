package connectlimit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	ratelimit "github.com/ratelimitgen/ratelimitgen/runtime"
	"github.com/ratelimitgen/ratelimitgen/runtime/contrib/connectlimit"
)

// refusal is a refusal by two limits.
func refusal() *ratelimit.LimitError {
	second := ratelimit.Limit{Count: 5, Period: time.Second}
	day := ratelimit.Limit{Count: 1000, Period: 24 * time.Hour}
	return &ratelimit.LimitError{
		Method: "users.Service.Get",
		Name:   "daily",
		Key:    "get:203.0.113.9",
		Limit:  day,
		Result: ratelimit.Result{Limit: 1000, RetryAfter: 90*time.Second + time.Microsecond},
		Status: 503,
		Refused: []ratelimit.Outcome{
			{Name: "1s", Limit: second, Result: ratelimit.Result{Limit: 5, RetryAfter: 200 * time.Millisecond}},
			{Name: "daily", Limit: day, Result: ratelimit.Result{Limit: 1000, RetryAfter: 90*time.Second + time.Microsecond}},
		},
	}
}

func TestError(t *testing.T) {
	undecided := &ratelimit.DecisionError{Method: "users.Service.Get", Err: errors.New("dial tcp 10.1.2.3:6379: connection refused")}
	message := refusal()
	message.Message = "Ask for more."
	never := refusal()
	never.Result.RetryAfter = ratelimit.Never
	garbled := refusal()
	garbled.Message = "\xff"
	retry := &errdetails.RetryInfo{RetryDelay: &durationpb.Duration{Seconds: 90, Nanos: 1000}}
	quota := func(text string) *errdetails.QuotaFailure {
		return &errdetails.QuotaFailure{Violations: []*errdetails.QuotaFailure_Violation{
			{Subject: "1s", Description: text, QuotaId: "1s", QuotaValue: 5},
			{Subject: "daily", Description: text, QuotaId: "daily", QuotaValue: 1000},
		}}
	}
	const later, beyond = "The request is over its limit. Try again in 91 seconds.", "The request asks for more than its limit can ever admit."
	for _, c := range []struct {
		name       string
		err        error
		code       connect.Code
		message    string
		retryAfter string
		details    []proto.Message
	}{
		{"refusal", refusal(), connect.CodeResourceExhausted, later, "91", []proto.Message{retry, quota(later)}},
		{"message", message, connect.CodeResourceExhausted, "Ask for more.", "91", []proto.Message{retry, quota("Ask for more.")}},
		{"never", never, connect.CodeResourceExhausted, beyond, "", []proto.Message{quota(beyond)}},
		{"garbled", garbled, connect.CodeResourceExhausted, "\xff", "91", []proto.Message{retry}}, // the limits cannot be told
		{"undecided", undecided, connect.CodeUnavailable, "The limit of the request could not be checked.", "", nil},
		{"both", errors.Join(undecided, refusal()), connect.CodeResourceExhausted, later, "91", []proto.Message{retry, quota(later)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, err := range []error{c.err, fmt.Errorf("get user: %w", c.err), connectlimit.Error(c.err), fmt.Errorf("get user: %w", connectlimit.Error(c.err))} {
				var got *connect.Error
				if !errors.As(connectlimit.Error(err), &got) {
					t.Fatalf("%v has no code", err)
				}
				if got.Code() != c.code || got.Message() != c.message || got.Meta().Get("Retry-After") != c.retryAfter {
					t.Errorf("%v: got %v %q, Retry-After %q, want %v %q, %q", err, got.Code(), got.Message(), got.Meta().Get("Retry-After"), c.code, c.message, c.retryAfter)
				}
				var details []proto.Message
				for _, d := range got.Details() {
					m, err := d.Value()
					if err != nil {
						t.Fatal(err)
					}
					details = append(details, m)
				}
				same := len(details) == len(c.details)
				for i := range details {
					same = same && proto.Equal(details[i], c.details[i])
				}
				if !same {
					t.Errorf("%v: got details %v, want %v", err, details, c.details)
				}
				if !errors.Is(got, c.err) {
					t.Errorf("%v does not wrap the limiter's error", got)
				}
			}
		})
	}
}

func TestOtherErrorsStayAsTheyAre(t *testing.T) {
	plain := errors.New("no such user")
	chosen := connect.NewError(connect.CodeInternal, refusal())
	for _, err := range []error{nil, plain, chosen, fmt.Errorf("get: %w", chosen), (*ratelimit.LimitError)(nil)} {
		if got := connectlimit.Error(err); got != err { //nolint:errorlint // the error itself, not one that wraps it
			t.Errorf("got %v, want %v itself", got, err)
		}
	}
}

func TestWhichOfSeveralErrorsCounts(t *testing.T) {
	chosen := connect.NewError(connect.CodePermissionDenied, refusal())
	undecided := &ratelimit.DecisionError{Err: connect.NewError(connect.CodeAborted, errors.New("of a store that is asked over Connect"))}
	other := connect.NewError(connect.CodeNotFound, errors.New("nobody"))
	for _, c := range []struct {
		name string
		err  error
		want connect.Code
	}{
		{"a code around a refusal", chosen, connect.CodePermissionDenied},
		{"that wrapped", fmt.Errorf("get: %w", chosen), connect.CodePermissionDenied},
		{"that joined", errors.Join(errors.New("close"), chosen), connect.CodePermissionDenied},
		{"a refusal around a code", fmt.Errorf("get: %w", errors.Join(refusal(), other)), connect.CodeResourceExhausted},
		{"a code beside a refusal", errors.Join(other, refusal()), connect.CodeResourceExhausted},
		{"a code beside what could not be decided", errors.Join(other, undecided), connect.CodeUnavailable},
		{"a refusal deep in a join", fmt.Errorf("%w, %w", undecided, fmt.Errorf("get: %w", errors.Join(other, refusal()))), connect.CodeResourceExhausted},
		{"the code of what the store said", undecided, connect.CodeUnavailable},
		{"a join of others", errors.Join(other, errors.New("close")), connect.CodeNotFound},
	} {
		if got := connect.CodeOf(connectlimit.Error(c.err)); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestReadRefusal(t *testing.T) {
	with := func(code connect.Code, details ...proto.Message) error {
		c := connect.NewError(code, errors.New("m"))
		for _, m := range details {
			d, err := connect.NewErrorDetail(m)
			if err != nil {
				t.Fatal(err)
			}
			c.AddDetail(d)
		}
		return c
	}
	retry := &errdetails.RetryInfo{RetryDelay: durationpb.New(time.Second)}
	quota := &errdetails.QuotaFailure{Violations: []*errdetails.QuotaFailure_Violation{{Subject: "project:7"}, {Subject: "a", QuotaId: "b"}}}
	const never = "2562047h47m16.854775807s"
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"nil", nil, ""},
		{"no code", errors.New("m"), ""},
		{"another code", with(connect.CodeUnavailable, retry), ""},
		{"a message that is too large", with(connect.CodeResourceExhausted), ""},
		{"another detail", with(connect.CodeResourceExhausted, &errdetails.Help{}), ""},
		{"a wait", with(connect.CodeResourceExhausted, retry), "{m 1s []}"},
		{"no length of a wait", with(connect.CodeResourceExhausted, &errdetails.RetryInfo{}), "{m 0s []}"},
		{"a wait below 0", with(connect.CodeResourceExhausted, &errdetails.RetryInfo{RetryDelay: durationpb.New(-1)}), "{m 0s []}"},
		{"limits", with(connect.CodeResourceExhausted, quota), "{m " + never + " [project:7 b]}"},
		{"both", with(connect.CodeResourceExhausted, quota, retry), "{m 1s [project:7 b]}"},
		{"wrapped", fmt.Errorf("call: %w", with(connect.CodeResourceExhausted, retry)), "{m 1s []}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, refused := connectlimit.ReadRefusal(c.err)
			if refused != (c.want != "") || refused && fmt.Sprint(got) != c.want {
				t.Errorf("got %v, %v, want %s", got, refused, c.want)
			}
		})
	}
}

// What the server knows of the limiter stays there.
func TestErrorKeepsSecrets(t *testing.T) {
	undecided := &ratelimit.DecisionError{Method: "users.Service.Get", Err: errors.New("dial tcp 10.1.2.3:6379: connection refused")}
	for _, err := range []error{refusal(), undecided} {
		told := fmt.Sprint(connectlimit.Error(fmt.Errorf("internal: %w", err)))
		for _, secret := range []string{"users.Service", "203.0.113.9", "10.1.2.3", "internal"} {
			if strings.Contains(told, secret) {
				t.Errorf("the caller is told %q", told)
			}
		}
	}
}
